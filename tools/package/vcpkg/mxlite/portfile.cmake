# mxlite from the tree that this port is in: vcpkg install mxlite --overlay-ports=tools/package/vcpkg
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../../.." ABSOLUTE)

vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}/tools/package/source")
vcpkg_cmake_install()
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE" "${SOURCE_PATH}/NOTICE")
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include")
