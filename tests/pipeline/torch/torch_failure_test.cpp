// What users are told about archives that LibTorch does not run.
#include "pipeline/torch/torch_failure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "pipeline/core/error.h"
#include "pipeline/torch/torch_classifier.h"
#include "tests/support/temp_dir.h"
#include "tests/support/torch_archives.h"

#ifndef __has_feature
#define __has_feature(feature) 0
#endif
#if __has_feature(address_sanitizer)
#include <sanitizer/lsan_interface.h>
#endif

namespace lookout {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class TorchFailure : public testing::Test {
 protected:
  std::string write(const std::string& body, const std::string& inputs = "x") {
    std::string path = directory_ / "model.pt";
    write_archive(path, body, small_metadata(), kThreeLabels, inputs);
    return path;
  }

  std::string changed(const std::string& archive, const ArchiveChange& change) {
    std::string path = directory_ / "changed.pt";
    copy_archive(archive, path, change);
    return path;
  }

  static void expect_told(const std::string& archive,
                          const testing::Matcher<std::string>& sentence) {
    try {
      const auto classifier = open_torch_model(ModelArchive(archive), {});
      FAIL() << "accepted " << archive;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kBadData) << error.what();
      EXPECT_THAT(error.what(),
                  AllOf(sentence, Not(HasSubstr("\n")), Not(HasSubstr("registered"))));
    }
  }

  TempDir directory_;
};

TEST_F(TorchFailure, InputsThatAreNoPictureAreNamed) {
  const std::string mean = "return x.mean([2, 3])";
  expect_told(write("return torch.stack(x).mean([2, 3])", "x: List[Tensor]"),
              AllOf(HasSubstr("takes List[Tensor]"), HasSubstr("as detection models do")));
  expect_told(write("return torch.stack(x).mean([2, 3])",
                    "x: List[Tensor], targets: Optional[List[Tensor]] = None"),
              HasSubstr("takes List[Tensor]"));
  expect_told(write("return torch.zeros([3]) + x", "x: int"), HasSubstr("takes int as its input"));
  expect_told(write("return torch.zeros([3])", "x: Dict[str, Tensor]"),
              HasSubstr("takes Dict[str, Tensor]"));
  expect_told(write(mean + " * k", "x, k: int"), HasSubstr("needs a second input, k"));
  expect_told(write("return (x + y).mean([2, 3])", "x, y"), HasSubstr("needs a second input, y"));
  const auto takes_default =
      open_torch_model(ModelArchive(write(mean + " * k", "x, k: int = 2")), {});
}

TEST_F(TorchFailure, ADeviceThatIsNotThereIsNamed) {
  for (const char* device : {"cuda:0", "cuda:1", "mps:0", "xpu:0"}) {
    const std::string made =
        std::string("torch.zeros([3], device=torch.device(\"") + device + "\"))";
    expect_told(write("return x.mean([2, 3]) + " + made),
                AllOf(HasSubstr(std::string("wants the device ") + device),
                      HasSubstr("trace it on the CPU")));
  }
  expect_told(write("return x.mean([2, 3]).cuda()"), HasSubstr("wants the device cuda"));
}

TEST_F(TorchFailure, AnAssertionIsToldByItsTextOrItsLine) {
  expect_told(write("assert x.size(3) == 5, \"five columns only\"\n  return x.mean([2, 3])"),
              HasSubstr("five columns only"));
  expect_told(write("assert x.size(3) == 5\n  return x.mean([2, 3])"),
              HasSubstr("AssertionError at: assert x.size(3) == 5"));
  expect_told(write("return x.view([1, 7])"), HasSubstr("shape '[1, 7]' is invalid"));
}

TEST_F(TorchFailure, PicturesWithTheirChannelsLastAreNamed) {
  expect_told(write("assert x.size(3) == 3\n  return x.mean([1, 2])"), HasSubstr("(NHWC)"));
  expect_told(write("return torch.conv2d(x.permute([0, 3, 1, 2]), torch.ones([3, 3, 1, 1]))"
                    ".mean([2, 3])"),
              HasSubstr("(NHWC)"));
}

TEST_F(TorchFailure, AnOperatorOfANewerTorchIsNamedWithBothVersions) {
  const std::string archive = write("return x.mean([2, 3])");
  const std::string operation = "torch.mean(x";
  expect_told(changed(archive, {operation, "torch.future_mean(x", "byteorder"}),
              AllOf(HasSubstr("needs the operator aten::future_mean, which LibTorch " +
                              libtorch_facts().version +
                              " does not have; it was saved by torch 2.1 or newer"),
                    Not(HasSubstr("--operators"))));
  const std::string metadata = R"("producer": {"torch": "9.8.7"})";
  std::string described = small_metadata();
  const std::string producer = R"("producer": {"test": "1"})";
  described.replace(described.find(producer), producer.size(), metadata);
  write_archive(archive, "return x.mean([2, 3])", described, kThreeLabels);
  expect_told(changed(archive, {operation, "torch.future_mean(x"}),
              HasSubstr("it was saved by torch 9.8.7"));
  expect_told(changed(archive, {operation, "ops.acme.mean(x"}), HasSubstr("--operators FILE"));
}

TEST_F(TorchFailure, ANewerFormatIsNamedWithBothVersions) {
#if __has_feature(address_sanitizer)
  // LibTorch keeps the reader of an archive that it refuses.
  const __lsan::ScopedDisabler disabler;
#endif
  expect_told(changed(write("return x.mean([2, 3])"), {"", "", "", 4321}),
              AllOf(HasSubstr("has version 4321 of the format"),
                    HasSubstr("LibTorch " + libtorch_facts().version + " reads up to ")));
}

TEST_F(TorchFailure, AnOptimizedArchiveIsNamed) {
  expect_told(changed(write("return x.mean([2, 3])"),
                      {"torch.mean(x", "torch.mean(ops.prim.ConstantMKLDNNTensor()"}),
              HasSubstr("torch.jit.optimize_for_inference()"));
}

TEST_F(TorchFailure, ASentenceIsNeverEmpty) {
  EXPECT_EQ(first_sentence(std::runtime_error("")), "LibTorch does not say why");
  EXPECT_EQ(first_sentence(std::runtime_error("\n \nthe reason\nmore")), "the reason");
  EXPECT_EQ(first_sentence(std::runtime_error("Traceback of TorchScript\n  y = f(x)\n      ~ <--- "
                                              "HERE\nRuntimeError: \n")),
            "RuntimeError at: y = f(x)");
}

}  // namespace
}  // namespace lookout
