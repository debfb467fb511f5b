#include "pipeline/torch/torch_blas.h"

#include <dlfcn.h>

#include <system_error>

namespace lookout {

std::filesystem::path blas_library() {
  // From here the loader looks in the same libraries, in the same order, as for LibTorch's calls.
  const void* function = dlsym(RTLD_DEFAULT, "sgemm_");
  Dl_info found{};
  if (function == nullptr || dladdr(function, &found) == 0) return {};
  std::error_code error;
  std::filesystem::path library = std::filesystem::canonical(found.dli_fname, error);
  return error ? std::filesystem::path() : library;
}

// Each alternative has a folder of its own: openblas-pthread/, blis-openmp/, atlas/.
bool is_reference_blas(const std::filesystem::path& library) {
  return library.parent_path().filename() == "blas";
}

std::string blas_advice(const std::filesystem::path& library) {
  if (!is_reference_blas(library)) return {};
  return "floats are multiplied by the reference BLAS, " + library.string() +
         ", which makes a model up to 24 times slower than OpenBLAS does: apt install libopenblas0";
}

}  // namespace lookout
