/* SPDX-License-Identifier: MIT */
/*
 * w_pictures
 *
 * Truth: 12 main frames, marked 13 times.  After each mark there is a picture of 16 by 8 pixels; the first
 * two are of the frame that runs, the others of the one two before it, so that frames 1 to 11 have one.  That
 * of frame F is red 20 F, green 255 - 20 F, and blue in its lower half alone; that of frame 3 is handed over
 * with its lowest row first.  Another one is refused: its height is not a multiple of 4.
 */
#include <hyprof/hyprof.h>

#include <stdint.h>
#include <string.h>
#include <time.h>

#define WIDTH  16
#define HEIGHT 8

static void paint(uint8_t pixels[HEIGHT][WIDTH][4], unsigned frame, int is_flipped)
{
        for (int y = 0; y < HEIGHT; y++)
                for (int x = 0; x < WIDTH; x++) {
                        uint8_t *pixel = pixels[is_flipped ? HEIGHT - 1 - y : y][x];

                        pixel[0] = (uint8_t)(20 * frame);
                        pixel[1] = (uint8_t)(255 - 20 * frame);
                        pixel[2] = y < HEIGHT / 2 ? 0 : 255;
                        pixel[3] = (uint8_t)x;
                }
}

int main(void)
{
        uint8_t pixels[HEIGHT][WIDTH][4];

        for (unsigned mark = 1; mark <= 13; mark++) {
                unsigned back = mark <= 2 ? 0 : 2, frame = mark - back;

                hyprof_frame_mark(NULL);
                paint(pixels, frame, frame == 3);
                hyprof_frame_picture(pixels, WIDTH, HEIGHT, back, frame == 3);
                memset(pixels, 0, sizeof(pixels)); /* they were copied */
                (void)nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
        }
        hyprof_frame_picture(pixels, WIDTH, 7, 0, 0);
        return 0;
}
