# SPDX-License-Identifier: MIT
# find_package(hyprof): the targets hyprof::hyprof, a shared library, and hyprof::hyprof_static
include(CMakeFindDependencyMacro)
find_dependency(Threads)

get_filename_component(_hyprof_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET hyprof::hyprof)
        add_library(hyprof::hyprof SHARED IMPORTED)
        add_library(hyprof::hyprof_static STATIC IMPORTED)
        set_target_properties(hyprof::hyprof PROPERTIES IMPORTED_LOCATION "${_hyprof_prefix}/lib/libhyprof.so")
        set_target_properties(hyprof::hyprof_static PROPERTIES IMPORTED_LOCATION "${_hyprof_prefix}/lib/libhyprof.a")
        set_target_properties(hyprof::hyprof hyprof::hyprof_static PROPERTIES
                INTERFACE_INCLUDE_DIRECTORIES "${_hyprof_prefix}/include"
                INTERFACE_LINK_LIBRARIES Threads::Threads)
endif()
unset(_hyprof_prefix)
