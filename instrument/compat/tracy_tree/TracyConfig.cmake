# SPDX-License-Identifier: MIT
# find_package(Tracy), find_package(tracy): the target Tracy::TracyClient, which is hyprof's libraries
include(CMakeFindDependencyMacro)
find_dependency(Threads)
include("${CMAKE_CURRENT_LIST_DIR}/../hyprof_tracy_paths.cmake")
if(NOT TARGET Tracy::TracyClient)
        add_library(Tracy::TracyClient INTERFACE IMPORTED)
        set_target_properties(Tracy::TracyClient PROPERTIES
                INTERFACE_INCLUDE_DIRECTORIES "${HYPROF_TRACY_PUBLIC}"
                INTERFACE_LINK_LIBRARIES "${HYPROF_TRACY_LIBRARIES};Threads::Threads;${CMAKE_DL_LIBS}")
        # TRACY_ENABLE=OFF of the program switches it off.
        if(NOT DEFINED TRACY_ENABLE OR TRACY_ENABLE)
                set_property(TARGET Tracy::TracyClient APPEND PROPERTY INTERFACE_COMPILE_DEFINITIONS TRACY_ENABLE)
        endif()
        # A program that asks for an older Tracy calls the C functions as they were then.
        if(${CMAKE_FIND_PACKAGE_NAME}_FIND_VERSION AND ${CMAKE_FIND_PACKAGE_NAME}_FIND_VERSION VERSION_LESS 0.14)
                set(_hyprof_revision 1200)
                if(${CMAKE_FIND_PACKAGE_NAME}_FIND_VERSION VERSION_LESS 0.12)
                        set(_hyprof_revision 1103)
                endif()
                set_property(TARGET Tracy::TracyClient APPEND PROPERTY INTERFACE_COMPILE_DEFINITIONS
                        TRACY_COMPAT_API=${_hyprof_revision})
                unset(_hyprof_revision)
        endif()
endif()
