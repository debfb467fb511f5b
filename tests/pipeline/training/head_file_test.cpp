#include "pipeline/training/head_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "pipeline/core/error.h"
#include "pipeline/core/sha256.h"
#include "tests/support/heads.h"

namespace lookout {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::size_t kFirstLine = 15;                // "lookout-head 1\n"
constexpr std::size_t kHeader = kFirstLine + 64 + 1;  // with the hash

std::string problem_of_head(const std::string& bytes) {
  try {
    read_head(bytes);
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadData) << error.what();
    return error.what();
  }
}

// The content with a hash that fits.
std::string head_with(const std::string& content) {
  return "lookout-head 1\n" + sha256(content) + "\n" + content;
}

// The bytes with something replaced in the content, and a hash that fits.
std::string replaced(const std::string& from, const std::string& to) {
  std::string content = write_head(small_head(4)).substr(kHeader);
  const auto at = content.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  if (at != std::string::npos) content.replace(at, from.size(), to);
  return head_with(content);
}

TEST(HeadFile, IsReadAsItWasWritten) {
  const HeadFile written = small_head(4, 120);
  const std::string bytes = write_head(written);
  EXPECT_TRUE(is_head(bytes));
  const HeadFile head = read_head(bytes);
  EXPECT_EQ(head.base.name, "small");
  EXPECT_EQ(head.base.sha256, written.base.sha256);
  EXPECT_EQ(head.base.bytes, 1234U);
  EXPECT_EQ(head.model.classes, 2U);
  EXPECT_EQ(head.model.head.outputs, 2U);
  EXPECT_EQ(head.model.head.weights, written.model.head.weights);
  EXPECT_EQ(head.model.head.biases, written.model.head.biases);
  EXPECT_EQ(head.model.detector.examples.values(), written.model.detector.examples.values());
  EXPECT_EQ(head.model.detector.examples.width(), 120U);
  EXPECT_TRUE(head.model.detector.of_profiles);
  EXPECT_EQ(head.model.detector.neighbours, 5U);
  EXPECT_EQ(head.model.detector.threshold, 0.3F);
  EXPECT_EQ(head.model.detector.steepness, 7);
  EXPECT_EQ(head.model.metadata, written.model.metadata);
  EXPECT_EQ(head.model.labels, written.model.labels);
  EXPECT_EQ(head.model.producer_info, written.model.producer_info);
  EXPECT_TRUE(write_head(head) == bytes);
}

TEST(HeadFile, DescribesItsClassifier) {
  const ModelSpec spec = spec_of(small_head(4));
  EXPECT_EQ(spec.name, "gate");
  EXPECT_THAT(spec.labels, ElementsAre("open", "closed", "unknown"));
  EXPECT_EQ(spec.unknown, 2U);
  EXPECT_EQ(spec.output, ModelOutput::kProbabilities);
  EXPECT_EQ(spec.input.resize, ResizeMode::kStretch);
}

TEST(HeadFile, MayHaveNoReport) {
  HeadFile head = small_head(4);
  head.model.producer_info.clear();
  EXPECT_EQ(read_head(write_head(head)).model.producer_info, "");
}

// What MobileNetV2 gives, and as many examples as there may be.
TEST(HeadFile, IsSmall) {
  HeadFile head = small_head(1280, 1000);
  const std::vector<float> row(1000, 1);
  while (head.model.detector.examples.size() < 128) head.model.detector.examples.add(row);
  EXPECT_LT(write_head(head).size(), 700'000U);
}

TEST(HeadFile, IsRefusedWhenItIsCutOrLarge) {
  const std::string bytes = write_head(small_head(4));
  for (const std::size_t size : {std::size_t{13}, kFirstLine, kHeader - 1, kHeader, kHeader + 9,
                                 bytes.size() - 4, bytes.size() - 1}) {
    EXPECT_THAT(problem_of_head(bytes.substr(0, size)), HasSubstr("cut or damaged")) << size;
  }
  EXPECT_THAT(problem_of_head(bytes + "more"), HasSubstr("cut or damaged"));
  EXPECT_THAT(problem_of_head(bytes + std::string(kMaxHeadBytes, '\0')),
              HasSubstr("none is larger than 16 MB"));
  EXPECT_FALSE(is_head("PK\x03\x04"));
  EXPECT_FALSE(is_head(""));
}

TEST(HeadFile, IsRefusedWhenItIsOfALaterFormat) {
  std::string bytes = write_head(small_head(4));
  bytes[kFirstLine - 2] = '2';
  EXPECT_THAT(problem_of_head(bytes), HasSubstr("another format"));
}

TEST(HeadFile, IsRefusedForWhatDoesNotFitTogether) {
  EXPECT_THAT(problem_of_head(replaced("\"classes\":2", "\"classes\":3")),
              HasSubstr("its outputs do not fit its classes"));
  EXPECT_THAT(problem_of_head(replaced("\"width\":4,\"examples\"", "\"width\":5,\"examples\"")),
              HasSubstr("bytes of numbers instead of"));
  EXPECT_THAT(problem_of_head(replaced("\"examples\":4", "\"examples\":4294967296")),
              HasSubstr("examples is no number from 1 to 65536"));
  EXPECT_THAT(problem_of_head(replaced("\"examples\":4", "\"examples\":-4")),
              HasSubstr("examples is no number"));
  EXPECT_THAT(problem_of_head(replaced("\"outputs\":2", "\"outputs\":0")),
              HasSubstr("outputs is no number"));
  EXPECT_THAT(problem_of_head(replaced("\"unknown\"]", "\"x\",\"unknown\"]")),
              HasSubstr("4 labels of 2 classes"));
  EXPECT_THAT(problem_of_head(replaced("[\"open\"", "[7")), HasSubstr("a label is no text"));
  EXPECT_THAT(problem_of_head(replaced("aaaa\"", "aaaA\"")), HasSubstr("sha256 of its base"));
  EXPECT_THAT(problem_of_head(replaced("\"base\"", "\"basis\"")), HasSubstr("no base"));
  EXPECT_THAT(problem_of_head(replaced("\"mean\"", "\"median\"")), HasSubstr("mean"));
  EXPECT_THAT(problem_of_head(replaced("\"neighbours\":5}", "\"neighbours\":5")),
              HasSubstr("its description is no JSON"));
  EXPECT_THAT(problem_of_head(head_with("")), HasSubstr("its description is no JSON"));
}

TEST(HeadFile, IsRefusedWithNumbersThatAreNotFinite) {
  for (const float wrong :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
        -std::numeric_limits<float>::infinity()}) {
    HeadFile head = small_head(4);
    head.model.head.weights[3] = wrong;
    EXPECT_THAT(problem_of_head(write_head(head)), HasSubstr("not finite"));
    head = small_head(4);
    head.model.detector.steepness = wrong;
    EXPECT_THAT(problem_of_head(write_head(head)), HasSubstr("not finite"));
  }
}

// As a disk or somebody may change it: bytes replaced, removed and added.
std::string mutated(std::string bytes, std::mt19937& random, std::size_t from) {
  const auto below = [&random](std::size_t end) { return std::size_t{random()} % end; };
  for (std::size_t change = 1 + below(4); change > 0; --change) {
    const std::size_t at = from + below(bytes.size() - from);
    switch (below(4)) {
      case 0:
        bytes.erase(at, 1 + below(8));
        break;
      case 1:
        bytes.insert(at, 1 + below(8), static_cast<char>(below(256)));
        break;
      case 2:
        bytes[at] = static_cast<char>('0' + below(10));
        break;
      default:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
    }
    if (bytes.size() <= from) break;
  }
  return bytes;
}

TEST(HeadFile, RefusesTenThousandMutatedOnes) {
  const std::string bytes = write_head(small_head(4, 120));
  std::mt19937 random(38);
  for (int i = 0; i < 10'000; ++i) {
    const std::string wrong = mutated(bytes, random, 0);
    if (wrong == bytes) continue;
    ASSERT_NE(problem_of_head(wrong), "") << i;
  }
}

// Somebody may also make the hash fit: what is then read can be used.
TEST(HeadFile, ReadsOnlyWhatFitsTogether) {
  const std::string content = write_head(small_head(4, 120)).substr(kHeader);
  std::mt19937 random(38);
  int read = 0;
  for (int i = 0; i < 10'000; ++i) {
    TrainedModel model;
    try {
      model = read_head(head_with(mutated(content, random, 0))).model;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kBadData) << error.what();
      continue;
    }
    ++read;
    const std::size_t width = model.head.weights.size() / model.head.outputs;
    std::vector<float> logits;
    model.head.apply(std::vector<float>(width, 0.1F).data(), logits);
    ASSERT_EQ(logits.size(), model.head.biases.size());
    const std::vector<float> row(model.detector.examples.width(), 0.1F);
    ASSERT_FALSE(std::isnan(model.detector.similarity(row.data())));
  }
  EXPECT_GT(read, 0);
}

}  // namespace
}  // namespace lookout
