# What `find_package(Warpline)` reads: the function `warpline_kernels`.
include("${CMAKE_CURRENT_LIST_DIR}/Warpline.cmake")
