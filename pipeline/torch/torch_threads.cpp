#include "pipeline/torch/torch_threads.h"

#include <ATen/Parallel.h>
#include <dlfcn.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace {

// Declared as in https://github.com/google/pthreadpool, include/pthreadpool.h. Debian's LibTorch
// links this library, PyPI's contains it.
using Pool = struct pthreadpool*;
using CreatePool = Pool (*)(std::size_t);
using DestroyPool = void (*)(Pool);
using CountThreads = std::size_t (*)(Pool);
using Task = void (*)(void*, std::size_t);
using Parallelize = void (*)(Pool, Task, void*, std::size_t, std::uint32_t);
constexpr std::uint32_t kYieldWorkers = 0x2;  // PTHREADPOOL_FLAG_YIELD_WORKERS

// LibTorch's pool, which has no public accessor.
std::atomic<Pool> compute_pool{nullptr};

template <typename Function>
Function find(void* where, const char* name) {
  return reinterpret_cast<Function>(dlsym(where, name));
}

}  // namespace

// These two intercept LibTorch's calls: the loader looks symbols up in the program before its
// libraries.
extern "C" __attribute__((visibility("default"))) Pool pthreadpool_create(std::size_t threads) {
  static const auto create = find<CreatePool>(RTLD_NEXT, "pthreadpool_create");
  const Pool pool = create(threads);
  compute_pool = pool;
  return pool;
}

extern "C" __attribute__((visibility("default"))) void pthreadpool_destroy(Pool pool) {
  static const auto destroy = find<DestroyPool>(RTLD_NEXT, "pthreadpool_destroy");
  Pool expected = pool;
  compute_pool.compare_exchange_strong(expected, nullptr);
  destroy(pool);
}

namespace lookout {
namespace {

using SetThreads = void (*)(int);

}  // namespace

void set_compute_threads(int threads, bool quantized) {
  at::set_num_threads(threads);  // both pools
  adopt_compute_threads(threads, quantized);
  if (const auto set_blas = find<SetThreads>(RTLD_DEFAULT, "openblas_set_num_threads")) {
    set_blas(threads);
  }
}

void adopt_compute_threads(int threads, bool quantized) {
  at::get_num_threads();  // completes LibTorch's lazy initialization on this thread
  if (const auto set_openmp = find<SetThreads>(RTLD_DEFAULT, "omp_set_num_threads")) {
    set_openmp(quantized ? 1 : threads);
  }
}

void rest_compute_threads() {
  static const auto count = find<CountThreads>(RTLD_DEFAULT, "pthreadpool_get_threads_count");
  static const auto parallelize = find<Parallelize>(RTLD_DEFAULT, "pthreadpool_parallelize_1d");
  const Pool pool = compute_pool;
  if (pool == nullptr || count == nullptr || parallelize == nullptr) return;
  const std::size_t threads = count(pool);
  if (threads < 2) return;
  // An empty job, after which the threads sleep instead of spinning.
  parallelize(
      pool, [](void*, std::size_t) {}, nullptr, threads, kYieldWorkers);
}

}  // namespace lookout
