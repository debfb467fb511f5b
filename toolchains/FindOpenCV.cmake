# Finds OpenCV by its headers and libraries. Debian has OpenCV's own CMake files in libopencv-dev alone,
# which brings every module, VTK and HDF5; this needs the -dev packages of the COMPONENTS.
#
# Sets OpenCV_INCLUDE_DIRS, OpenCV_VERSION, OpenCV_VERSION_MAJOR and OpenCV_VERSION_MINOR, and makes a
# target opencv_COMPONENT for each of core, imgproc, imgcodecs and highgui that is asked for.
find_path(OpenCV_INCLUDE_DIRS opencv2/core/version.hpp PATH_SUFFIXES opencv4)
set(OpenCV_VERSION)
if(OpenCV_INCLUDE_DIRS)
  foreach(_part MAJOR MINOR REVISION)
    file(STRINGS ${OpenCV_INCLUDE_DIRS}/opencv2/core/version.hpp _line
         REGEX "^#define CV_VERSION_${_part} ")
    string(REGEX REPLACE ".* " "" OpenCV_VERSION_${_part} "${_line}")
  endforeach()
  set(OpenCV_VERSION ${OpenCV_VERSION_MAJOR}.${OpenCV_VERSION_MINOR}.${OpenCV_VERSION_REVISION})
endif()

set(_uses_imgproc core)
set(_uses_imgcodecs core imgproc)
set(_uses_highgui core imgproc imgcodecs)
foreach(_component IN LISTS OpenCV_FIND_COMPONENTS)
  find_library(OpenCV_${_component}_LIBRARY opencv_${_component})
  find_path(OpenCV_${_component}_INCLUDE_DIR opencv2/${_component}.hpp PATH_SUFFIXES opencv4)
  mark_as_advanced(OpenCV_${_component}_LIBRARY OpenCV_${_component}_INCLUDE_DIR)
  if(NOT OpenCV_${_component}_LIBRARY OR NOT OpenCV_${_component}_INCLUDE_DIR)
    continue()
  endif()
  set(OpenCV_${_component}_FOUND TRUE)
  if(NOT TARGET opencv_${_component})
    set(_uses ${_uses_${_component}})
    list(TRANSFORM _uses PREPEND opencv_)
    add_library(opencv_${_component} SHARED IMPORTED)
    set_target_properties(opencv_${_component} PROPERTIES
      IMPORTED_LOCATION ${OpenCV_${_component}_LIBRARY}
      INTERFACE_INCLUDE_DIRECTORIES ${OpenCV_INCLUDE_DIRS}
      INTERFACE_LINK_LIBRARIES "${_uses}")
  endif()
endforeach()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(OpenCV
  REQUIRED_VARS OpenCV_INCLUDE_DIRS VERSION_VAR OpenCV_VERSION HANDLE_COMPONENTS)
