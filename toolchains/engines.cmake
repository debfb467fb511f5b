# Finds the engines of LOOKOUT_ENGINES: the targets torch and onnxruntime.
include(${CMAKE_CURRENT_LIST_DIR}/cache.cmake)

# LibTorch of Debian for arm64 lacks QNNPACK, without which no quantized archive runs: there it is that of
# get-libtorch.sh, or none.
set(_engines onnx torch)
if(NOT CMAKE_CROSSCOMPILING AND CMAKE_SYSTEM_PROCESSOR STREQUAL aarch64)
  set(_libtorch ${LOOKOUT_CACHE}/libtorch-aarch64/share/cmake/Torch)
  if(EXISTS ${_libtorch})
    set(Torch_DIR ${_libtorch} CACHE PATH "TorchConfig.cmake")
  elseif(NOT Torch_DIR)
    set(_engines onnx)
    message(STATUS "Without TorchScript models: there is no ${_libtorch}; toolchains/get-libtorch.sh gets it")
  endif()
endif()
set(LOOKOUT_ENGINES "${_engines}" CACHE STRING
    "Engines to build: onnx, torch or both. Of onnx alone a build takes half of the memory")
foreach(_engine IN LISTS LOOKOUT_ENGINES)
  if(NOT _engine MATCHES "^(onnx|torch)$")
    message(FATAL_ERROR "LOOKOUT_ENGINES is \"${LOOKOUT_ENGINES}\": onnx, torch or onnx;torch are possible")
  endif()
endforeach()
if(NOT LOOKOUT_ENGINES)
  message(FATAL_ERROR "LOOKOUT_ENGINES is empty, and models need one: onnx, torch or onnx;torch")
endif()

if(torch IN_LIST LOOKOUT_ENGINES)
  # TorchConfig.cmake adds this to TORCH_LIBRARIES, which is not used, and warns when it finds no such file.
  set(kineto_LIBRARY kineto)
  find_package(Torch REQUIRED)
endif()

# Debian has no ONNX Runtime for every machine. toolchains/get-onnxruntime.sh gets it.
if(CMAKE_SYSROOT)
  set(_onnxruntime ${CMAKE_SYSROOT}/opt/onnxruntime)
else()
  set(_onnxruntime ${LOOKOUT_CACHE}/onnxruntime-${CMAKE_SYSTEM_PROCESSOR})
endif()
set(LOOKOUT_ONNXRUNTIME ${_onnxruntime} CACHE PATH
    "Folder with ONNX Runtime's include/ and lib/; empty: without ONNX models")
if(NOT onnx IN_LIST LOOKOUT_ENGINES)
  message(STATUS "Without ONNX models: LOOKOUT_ENGINES is ${LOOKOUT_ENGINES}")
elseif(EXISTS ${LOOKOUT_ONNXRUNTIME}/include/onnxruntime_cxx_api.h)
  add_library(onnxruntime SHARED IMPORTED)
  set_target_properties(onnxruntime PROPERTIES
    IMPORTED_LOCATION ${LOOKOUT_ONNXRUNTIME}/lib/libonnxruntime.so.1
    INTERFACE_INCLUDE_DIRECTORIES ${LOOKOUT_ONNXRUNTIME}/include)
elseif(torch IN_LIST LOOKOUT_ENGINES)
  message(STATUS "Without ONNX models: there is no ONNX Runtime in ${LOOKOUT_ONNXRUNTIME}; "
    "toolchains/get-onnxruntime.sh gets it")
else()
  message(FATAL_ERROR "LOOKOUT_ENGINES is onnx, and there is no ONNX Runtime in ${LOOKOUT_ONNXRUNTIME}: "
    "toolchains/get-onnxruntime.sh gets it")
endif()
