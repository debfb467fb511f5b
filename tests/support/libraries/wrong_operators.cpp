// A library of operators that is wrong in the way that LOOKOUT_WRONG names.
#include <exception>
#include <string>

#define LOOKOUT_UNDEFINED 1
#define LOOKOUT_CRASHES 2
#define LOOKOUT_OTHER_TORCH 3
#define LOOKOUT_OTHER_ONNX 4
#define LOOKOUT_POINTER 5

// The interfaces choose these names.
// NOLINTBEGIN(readability-identifier-naming)
#if LOOKOUT_WRONG == LOOKOUT_UNDEFINED
void nothing_defines_this();
[[maybe_unused]] static const bool kDone = (nothing_defines_this(), true);
#elif LOOKOUT_WRONG == LOOKOUT_CRASHES
[[maybe_unused]] static const bool kDone = (__builtin_trap(), true);
#elif LOOKOUT_WRONG == LOOKOUT_OTHER_TORCH
extern "C" const char lookout_operators_abi[] = "LibTorch 0.4.1";
[[maybe_unused]] static const bool kDone =
    (std::terminate(), true);  // not even its initialisers run
#elif LOOKOUT_WRONG == LOOKOUT_OTHER_ONNX
extern "C" const char lookout_operators_abi[] = "ONNX Runtime 1.9999";
extern "C" void RegisterCustomOps() { std::terminate(); }
#elif LOOKOUT_WRONG == LOOKOUT_POINTER
extern "C" {
extern const char* const lookout_operators_abi;
const char* const lookout_operators_abi = "LibTorch 0.4.1";
}
#endif
// NOLINTEND(readability-identifier-naming)
