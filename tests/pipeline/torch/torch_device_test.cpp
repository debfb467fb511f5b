#include "pipeline/torch/torch_device.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "paths.h"
#include "pipeline/core/error.h"
#include "pipeline/core/module.h"
#include "pipeline/model/warm_up.h"
#include "pipeline/torch/torch_classifier.h"
#include "tests/support/temp_dir.h"
#include "tests/support/torch_archives.h"

namespace lookout {
namespace {

using testing::HasSubstr;
using testing::Pair;
using testing::UnorderedElementsAre;

const std::string kFloatModel = std::string(LOOKOUT_SHARED_MODELS) + "/mobilenet_v2_float.pt";

ClassifierOptions on_meter(bool forbid = false) {
  ClassifierOptions options;
  options.device = {"meter", "", forbid};
  return options;
}

std::string beside_the_tests(const std::string& name) {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / name;
}

void expect_no_plugin(const DeviceOptions& options, ErrorKind kind, const std::string& named) {
  try {
    load_device_plugin(options);
    FAIL() << "accepted " << options.plugin;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    EXPECT_THAT(error.what(), HasSubstr(named));
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
  }
}

TEST(DevicePlugins, NothingIsLoadedWithoutADevice) {
  const std::string meter = module_path("liblookout-meter.so").string();
  if (::dlopen(meter.c_str(), RTLD_NOW | RTLD_NOLOAD) != nullptr) {
    GTEST_SKIP() << "another test of this process has loaded the device";
  }
  const auto classifier = open_torch_model(ModelArchive(LOOKOUT_SELFTEST), {});
  std::ostringstream maps;
  maps << std::ifstream("/proc/self/maps").rdbuf();
  EXPECT_THAT(maps.str(), testing::Not(HasSubstr("meter")));
  EXPECT_EQ(classifier->device_use().device, "");
}

TEST(DevicePlugins, WrongOnesAreRefusedInOneSentence) {
  const TempDir directory;
  const std::string text = directory.write("text.so", "no library");
  const std::string other_interface = beside_the_tests("fake_device_interface.so");
  const std::string other_libtorch = beside_the_tests("fake_device_libtorch.so");
  expect_no_plugin({"acme", "", false}, ErrorKind::kNoInput, "liblookout-acme.so");
  expect_no_plugin({"acme", "/no/such.so", false}, ErrorKind::kNoInput, "there is no /no/such.so");
  expect_no_plugin({"acme", text, false}, ErrorKind::kBadData, text);
  expect_no_plugin({"acme", beside_the_tests("taker_of_signals.so"), false}, ErrorKind::kBadData,
                   "lookout_device_v1()");
  expect_no_plugin({"fake", other_interface, false}, ErrorKind::kNoInput, "has interface 2");
  expect_no_plugin({"fake", other_libtorch, false}, ErrorKind::kNoInput, "LibTorch 2.0.1");
}

TEST(DevicePlugins, OldLibTorchIsNamed) {
  if (libtorch_facts().version.rfind("1.", 0) != 0) GTEST_SKIP() << "LibTorch is new enough";
  try {
    const auto classifier = open_torch_model(ModelArchive(LOOKOUT_SELFTEST), on_meter());
    FAIL() << "accepted a device";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
    EXPECT_THAT(error.what(), HasSubstr("--device needs LibTorch 2.1 or later, this is"));
  }
}

class Meter : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(module_path("liblookout-meter.so"))) {
      GTEST_SKIP() << "the device meter needs LibTorch 2.6 or later";
    }
    write_convolution(archive_);
  }

  TempDir directory_;
  const std::string archive_ = directory_ / "convolution.pt";
};

std::vector<float> logits_of(Classifier& classifier) {
  ImageTensor image = blank_image(classifier.spec().input);
  for (std::size_t i = 0; i < image.values.size(); ++i) {
    image.values[i] = static_cast<float>(i % 251) / 125 - 1;
  }
  std::vector<float> logits;
  classifier.classify(image, {}, logits);
  return logits;
}

std::vector<float> logits_of(const std::string& archive, const ClassifierOptions& options) {
  return logits_of(*open_torch_model(ModelArchive(archive), options));
}

// Calls on the device, and fallen back, of each operator.
using Counts = std::map<std::string, std::uint64_t>;

Counts counts(const DeviceUse& use, std::uint64_t DeviceCalls::*kind) {
  Counts counts;
  for (const DeviceCalls& calls : use.calls) {
    if (calls.*kind > 0) counts[calls.op] += calls.*kind;
  }
  return counts;
}

TEST_F(Meter, GivesTheLogitsOfTheCpu) {
  EXPECT_EQ(logits_of(archive_, on_meter()), logits_of(archive_, {}));
}

TEST_F(Meter, CallsAreCountedByOperatorAndLayer) {
  const auto classifier = open_torch_model(ModelArchive(archive_), on_meter());
  const DeviceUse& use = classifier->device_use();
  EXPECT_EQ(use.device, "meter");
  EXPECT_THAT(
      counts(use, &DeviceCalls::on_device),
      UnorderedElementsAre(Pair("aten::convolution_overrideable", 1), Pair("aten::add.Tensor", 1)));
  EXPECT_THAT(
      counts(use, &DeviceCalls::fallen_back),
      UnorderedElementsAre(Pair(HasSubstr("aten::hardtanh"), 1), Pair(HasSubstr("aten::mean"), 1)));
  for (const DeviceCalls& calls : use.calls) {
    const bool inner = calls.op == "aten::convolution_overrideable" ||
                       calls.op.find("hardtanh") != std::string::npos;
    EXPECT_EQ(calls.layer, inner ? "features" : "") << calls.op;
    EXPECT_EQ(calls.bytes_moved > 0, calls.fallen_back > 0) << calls.op;
  }
}

TEST_F(Meter, CostsAreThoseOfTheShapes) {
  constexpr std::uint64_t kPicture = 3 * 8 * 8 * sizeof(float);
  constexpr std::uint64_t kWeights = 9 * sizeof(float);
  const auto classifier = open_torch_model(ModelArchive(archive_), on_meter());
  const DeviceUse& use = classifier->device_use();
  EXPECT_TRUE(use.counts_costs);
  EXPECT_EQ(use.bytes_in, kPicture);
  EXPECT_EQ(use.bytes_out, 3 * sizeof(float));
  EXPECT_EQ(use.resident_bytes, kWeights);
  EXPECT_EQ(total_of(use).multiply_adds, 3U * 3 * 8 * 8);
  const DeviceCalls& convolution = use.calls.front();
  EXPECT_EQ(convolution.bytes_read, kPicture + kWeights);
  EXPECT_EQ(convolution.bytes_written, kPicture);
  EXPECT_EQ(convolution.peak_bytes, 2 * kPicture);
}

TEST_F(Meter, AForbiddenFallbackNamesOperatorAndLayer) {
  try {
    const auto classifier = open_torch_model(ModelArchive(archive_), on_meter(/*forbid=*/true));
    FAIL() << "hardtanh ran";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadData);
    EXPECT_THAT(error.what(), HasSubstr("the device meter has no kernel for aten::hardtanh"));
    EXPECT_THAT(error.what(), HasSubstr("in layer features"));
  }
  EXPECT_EQ(logits_of(archive_, on_meter()), logits_of(archive_, {}));
}

TEST_F(Meter, TakesNoQuantizedArchives) {
  try {
    const auto classifier = open_torch_model(ModelArchive(LOOKOUT_SELFTEST), on_meter());
    FAIL() << "accepted a quantized archive";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadData);
    EXPECT_THAT(error.what(), HasSubstr("is quantized"));
    EXPECT_THAT(error.what(), HasSubstr("--activations float32"));
  }
}

TEST_F(Meter, AProcessHasOneDevice) {
  const auto classifier = open_torch_model(ModelArchive(archive_), on_meter());
  ClassifierOptions other = on_meter();
  other.device.name = "acme";
  try {
    const auto refused = open_torch_model(ModelArchive(archive_), other);
    FAIL() << "accepted a second device";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
    EXPECT_THAT(error.what(), HasSubstr("uses the device meter already"));
  }
}

TEST_F(Meter, TakesConvolutionsAndAdditionsOfMobileNet) {
  if (!std::filesystem::exists(kFloatModel)) GTEST_SKIP() << "there is no " << kFloatModel;
  const auto classifier = open_torch_model(ModelArchive(kFloatModel), on_meter());
  const DeviceUse& use = classifier->device_use();
  EXPECT_EQ(counts(use, &DeviceCalls::on_device),
            (Counts{{"aten::convolution_overrideable", 52}, {"aten::add.Tensor", 10}}));
  EXPECT_EQ(counts(use, &DeviceCalls::fallen_back), (Counts{{"aten::hardtanh_", 35},
                                                            {"aten::flip", 1},
                                                            {"aten::mean.out", 1},
                                                            {"aten::addmm.out", 1}}));
  EXPECT_EQ(total_of(use).multiply_adds, 300'774'272U);
  EXPECT_EQ(logits_of(*classifier), logits_of(kFloatModel, {}));
}

}  // namespace
}  // namespace lookout
