# Included by OpenCV's project(). What nothing here uses is not compiled, and nothing of the machine and
# the folder that built it stays in the libraries, so that they are the same from any.

# Sources that are left out of a module, by name without .cpp; of imgproc those that stay. The linker, which
# is told --no-undefined, reports one too few; tests/target.sh, a function that a program of the package needs.
set(LOOKOUT_WITHOUT_core algorithm async batch_distance bindings_utils command_line_parser conjugate_gradient
    convert_c cuda_[a-z_]+ directx downhill_simplex dxt hal_internal has_non_zero.dispatch lapack lda lpsolver
    matmul[a-z_.]+ matrix_decomp matrix_expressions matrix_sparse opencl_cl(blas|fft) ovx pca
    persistence[a-z0-9_]* samples split.dispatch stat_c stl va_intel)
set(LOOKOUT_WITHOUT_imgcodecs grfmt_(avif|exr|gdal|gdcm|jpeg2000|jpeg2000_openjpeg))
set(LOOKOUT_imgproc color color_hsv.dispatch color_lab color_rgb.dispatch color_yuv.dispatch demosaicing
    drawing hershey_fonts opencl_kernels_imgproc resize tables
    # On x86, with the instructions that the processor turns out to have.
    "(color_hsv|color_rgb|color_yuv|resize)[.](sse4_1|avx2)")

# lookout_filter_sources(MODULE INCLUDE|EXCLUDE NAME...)
function(lookout_filter_sources module mode)
  get_target_property(_others opencv_${module} SOURCES)
  set(_sources ${_others})
  list(FILTER _others EXCLUDE REGEX "\\.cpp$")
  list(FILTER _sources INCLUDE REGEX "\\.cpp$")
  list(JOIN ARGN "|" _names)
  list(FILTER _sources ${mode} REGEX "/(${_names})\\.cpp$")
  set_target_properties(opencv_${module} PROPERTIES SOURCES "${_others};${_sources}")
endfunction()

# Most of the time goes into headers. What works on pixels of frames stays as OpenCV compiles it.
function(lookout_join_sources module)
  set_target_properties(opencv_${module} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
  get_target_property(_apart opencv_${module} SOURCES)
  list(FILTER _apart INCLUDE REGEX "(\\.dispatch|/softfloat)\\.cpp$")
  set_source_files_properties(${_apart} TARGET_DIRECTORY opencv_${module}
    PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

function(lookout_leave_out)
  lookout_filter_sources(imgproc INCLUDE ${LOOKOUT_imgproc})
  foreach(_module core imgcodecs)
    lookout_filter_sources(${_module} EXCLUDE ${LOOKOUT_WITHOUT_${_module}})
    lookout_join_sources(${_module})
  endforeach()
endfunction()

function(lookout_forget_names)
  # What getBuildInformation() returns: the kernel, paths of libraries, flags.
  file(WRITE ${CMAKE_BINARY_DIR}/modules/core/version_string.inc "\"OpenCV of lookout's package\\n\"\n")
  # Folders of sample data, also those of the sources and the build.
  set(_config ${CMAKE_BINARY_DIR}/opencv_data_config.hpp)
  file(READ ${_config} _folders)
  string(REGEX REPLACE "\"[^\"\n]*\"" "\"/usr\"" _folders "${_folders}")
  file(WRITE ${_config} "${_folders}")
endfunction()
# After OpenCV has made its targets and written its files.
cmake_language(DEFER CALL lookout_leave_out)
cmake_language(DEFER CALL lookout_forget_names)
