// SPDX-License-Identifier: MIT
//
// gl_zones N [late]
//
// Clears a picture of OpenGL N times, each in a zone of the GPU inside of the zone "frame", without a window:
// Mesa's software renderer will do.  "late": once a recording has begun.  Exit status 77: there is no OpenGL.
// tests/integration/tracy_gpu.sh compiles it.
#define GL_GLEXT_PROTOTYPES   1
#define EGL_EGLEXT_PROTOTYPES 1
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GL/gl.h>
#include <GL/glext.h>

#include <tracy/Tracy.hpp>
#include <tracy/TracyOpenGL.hpp>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static bool make_current()
{
        EGLDisplay display = eglGetPlatformDisplay(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY,
                                                   nullptr);
        const EGLint wanted[] = { EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_NONE };
        const EGLint version[] = { EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_MINOR_VERSION, 3, EGL_NONE };
        EGLConfig config;
        EGLint n = 0;

        if (!eglInitialize(display, nullptr, nullptr) || !eglBindAPI(EGL_OPENGL_API))
                return false;
        if (!eglChooseConfig(display, wanted, &config, 1, &n) || n == 0)
                config = nullptr;
        EGLContext context = eglCreateContext(display, config, EGL_NO_CONTEXT, version);
        return context != EGL_NO_CONTEXT && eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context);
}

int main(int argc, char **argv)
{
        const int n = argc > 1 ? atoi(argv[1]) : 100;
        GLuint picture = 0, target = 0;

        if (!make_current())
                return 77;
        glGenTextures(1, &picture);
        glBindTexture(GL_TEXTURE_2D, picture);
        glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 512, 512, 0, GL_RGBA, GL_UNSIGNED_BYTE, nullptr);
        glGenFramebuffers(1, &target);
        glBindFramebuffer(GL_FRAMEBUFFER, target);
        glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, picture, 0);

        TracyGpuContext;
        TracyGpuContextName("renderer", 8);
        while (argc > 2 && !TracyIsConnected)
                usleep(1000);
        for (int i = 0; i < n; i++) {
                {
                        TracyGpuZoneC("frame", 0x00ff00);
                        {
                                TracyGpuZone("clear");
                                glClearColor(0, 0, static_cast<float>(i % 2), 1);
                                glClear(GL_COLOR_BUFFER_BIT);
                        }
                        TracyGpuNamedZone(odd, "odd", i % 2 == 1);
                        TracyGpuZoneTransient(made, i % 2 ? "made one" : "made two", true);
                }
                glFlush();
                TracyGpuCollect;
                FrameMark;
        }
        glFinish();
        TracyGpuCollect;
        printf("%s\n", reinterpret_cast<const char *>(glGetString(GL_RENDERER)));
        return 0;
}
