# What `find_package(Warpline)` reads: the function `warpline_kernels`.
# Written beside this file by `warpline --print cmake-dir`: where the program is.
include("${CMAKE_CURRENT_LIST_DIR}/WarplineProgram.cmake" OPTIONAL)
include("${CMAKE_CURRENT_LIST_DIR}/Warpline.cmake")
