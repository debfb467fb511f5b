// The BLAS with which LibTorch multiplies matrices of floats. Debian's build takes the library that
// the system's alternatives name, libblas.so.3; PyPI's brings one.
#pragma once

#include <filesystem>
#include <string>

namespace lookout {

// The library whose sgemm_ LibTorch calls, links followed. Empty: none, or it is not known.
std::filesystem::path blas_library();

// Whether it is Debian's reference BLAS, of the package libblas3. That is correct and slow: it uses
// neither vectors nor threads.
bool is_reference_blas(const std::filesystem::path& library);

// A sentence with the way out when `library` slows down a model of floats; else empty.
std::string blas_advice(const std::filesystem::path& library);

}  // namespace lookout
