# OpenCV for the package, from the source in LOOKOUT_PACKAGE_ROOT. Debian's brings a hundred libraries for formats
# that no camera has: 57 MB of the service's memory, and a minute of its start in an emulated machine.
# This one is of the same version and so has the same binary interface: what was linked with Debian's
# runs with it.
#
# Sets LOOKOUT_OPENCV: the libraries.
include(ExternalProject)
string(REGEX MATCH "..$" _minor "0${OpenCV_VERSION_MINOR}")
set(_folder ${CMAKE_CURRENT_BINARY_DIR}/opencv/lib)
set(LOOKOUT_OPENCV core imgcodecs imgproc)
list(TRANSFORM LOOKOUT_OPENCV
     REPLACE "(.+)" "${_folder}/libopencv_\\1.so.${OpenCV_VERSION_MAJOR}${_minor}")

# What OpenCV would look for on its own account and take.
set(_without 1394 ADE CAROTENE EIGEN GDAL GDCM GSTREAMER GTK IPP ITT JASPER LAPACK OPENCL OPENEXR OPENJPEG
    PROTOBUF QUIRC TBB V4L VTK)
list(TRANSFORM _without REPLACE "(.+)" "-DWITH_\\1=OFF")
string(REPLACE ";" "|" _launcher "${CMAKE_CXX_COMPILER_LAUNCHER}")
set(_opencv_source ${LOOKOUT_PACKAGE_ROOT}/usr/src/opencv)
if(CMAKE_TOOLCHAIN_FILE)
  set(_target -DCMAKE_TOOLCHAIN_FILE=${CMAKE_TOOLCHAIN_FILE} -DLOOKOUT_SYSROOT=${LOOKOUT_SYSROOT})
else()  # as the toolchain's file says
  set(_flags "${CMAKE_CXX_FLAGS} -fmacro-prefix-map=${LOOKOUT_PACKAGE_ROOT}=")
  set(_target -DCMAKE_C_FLAGS=${_flags} -DCMAKE_CXX_FLAGS=${_flags})
endif()
ExternalProject_Add(opencv
  LIST_SEPARATOR |
  SOURCE_DIR ${_opencv_source}
  BINARY_DIR opencv
  CMAKE_ARGS
    ${_target}
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER_LAUNCHER=${_launcher} -DENABLE_CCACHE=OFF
    -DCMAKE_INSTALL_RPATH=$ORIGIN -DCMAKE_BUILD_WITH_INSTALL_RPATH=ON
    -DBUILD_LIST=core,imgcodecs,imgproc
    -DBUILD_TESTS=OFF -DBUILD_PERF_TESTS=OFF -DBUILD_opencv_apps=OFF -DBUILD_JAVA=OFF
    -DBUILD_INFO_SKIP_TIMESTAMP=ON ${_without}
    -DCMAKE_PROJECT_OpenCV_INCLUDE=${CMAKE_CURRENT_SOURCE_DIR}/opencv-project.cmake
  INSTALL_COMMAND ""
  BUILD_BYPRODUCTS ${LOOKOUT_OPENCV}
  LOG_CONFIGURE ON LOG_BUILD ON LOG_OUTPUT_ON_FAILURE ON)
ExternalProject_Add_StepDependencies(opencv configure ${CMAKE_CURRENT_SOURCE_DIR}/opencv-project.cmake)
