#!/bin/sh
# Builds a program with CMake, by FetchContent and by find_package of what is installed in STAGE: check_cmake.sh CC FOLDER
# STAGE ("make test-embed"; without cmake it says so).
set -e
cc=$1 folder=$2 stage=$3 root=$PWD
command -v cmake > /dev/null || { echo "test-embed: no cmake here: FetchContent and find_package are not tested"; exit 0; }
export CC="$cc"
rm -rf "$folder/cmake" && mkdir -p "$folder/cmake/fetch" "$folder/cmake/find"
cp tools/package/conan/test_package/test_package.c "$folder/cmake/fetch/program.c"
sed 's,"mxlite.h","mxlite/mxlite.h",' tools/package/conan/test_package/test_package.c > "$folder/cmake/find/program.c"
cat > "$folder/cmake/fetch/CMakeLists.txt" << EOT
cmake_minimum_required(VERSION 3.18)
project(program LANGUAGES C)
include(FetchContent)
FetchContent_Declare(mxlite SOURCE_DIR "$root" SOURCE_SUBDIR tools/package/source)
set(MXLITE_OPS FullyConnected relu argmax)
set(MXLITE_FILES OFF CACHE BOOL "")
FetchContent_MakeAvailable(mxlite)
add_executable(program program.c)
target_link_libraries(program PRIVATE mxlite::mxlite)
EOT
cat > "$folder/cmake/find/CMakeLists.txt" << EOT
cmake_minimum_required(VERSION 3.16)
project(program LANGUAGES C)
find_package(mxlite CONFIG REQUIRED)
add_executable(program program.c)
target_link_libraries(program PRIVATE mxlite::static)
add_executable(shared program.c)
target_link_libraries(shared PRIVATE mxlite::mxlite)
EOT
cmake -S "$folder/cmake/fetch" -B "$folder/cmake/fetch/build" > "$folder/cmake/log"
cmake --build "$folder/cmake/fetch/build" >> "$folder/cmake/log"
echo "test-embed: FetchContent: $("$folder/cmake/fetch/build/program")"
cmake -S "$folder/cmake/find" -B "$folder/cmake/find/build" -DCMAKE_PREFIX_PATH="$stage" >> "$folder/cmake/log"
cmake --build "$folder/cmake/find/build" >> "$folder/cmake/log"
echo "test-embed: find_package, static: $("$folder/cmake/find/build/program")"
echo "test-embed: find_package, shared: $("$folder/cmake/find/build/shared")"
