# SPDX-License-Identifier: MIT
# For find_package(tracy), which looks for this name
include("${CMAKE_CURRENT_LIST_DIR}/../Tracy/TracyConfig.cmake")
