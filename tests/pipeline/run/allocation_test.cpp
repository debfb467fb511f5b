// In steady state a frame costs no allocation, and its pixels are not copied on their way from the
// source to the preprocessor.
#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <set>
#include <vector>

#include "pipeline/model/preprocessor.h"
#include "pipeline/run/pipeline.h"
#include "platform/cameras/raw_converter.h"
#include "platform/reporters/stdout_reporters.h"
#include "platform/sources/test_source.h"
#include "tests/support/fakes.h"

namespace {

std::atomic<bool> counting{false};
std::atomic<int> allocations{0};

void count() {
  if (counting.load(std::memory_order_relaxed)) ++allocations;
}

}  // namespace

// operator new and OpenCV end here.
// NOLINTBEGIN(bugprone-reserved-identifier,readability-*)
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);

void* malloc(std::size_t size) {
  count();
  return __libc_malloc(size);
}
void* calloc(std::size_t number, std::size_t size) {
  count();
  return __libc_calloc(number, size);
}
void* realloc(void* memory, std::size_t size) {
  count();
  return __libc_realloc(memory, size);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
  count();
  *memory = __libc_memalign(alignment, size);
  return *memory == nullptr ? ENOMEM : 0;
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  count();
  return __libc_memalign(alignment, size);
}
}

// NOLINTEND(bugprone-reserved-identifier,readability-*)

namespace lookout {
namespace {

constexpr std::uint64_t kWarm = 200;
constexpr std::uint64_t kEnd = 1200;

// Counts between two frames. The statistics of an interval are not a frame's matter.
class CountBetween : public Reporter {
 public:
  void report(const Result& result, const Frame& /*frame*/) override {
    if (result.sequence == kWarm) counting = true;
    if (result.sequence == kEnd) counting = false;
  }
};

int allocations_of(Source& source) {
  allocations = 0;
  FakeClassifier classifier;
  std::atomic<bool> stop{false};
  const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
  NonBlockingWriter output(null, "null", NonBlockingWriter::WhenFull::kWait, stop);
  std::vector<std::unique_ptr<Reporter>> reporters;
  reporters.push_back(std::make_unique<JsonReporter>(output, JsonFormat({"camera"})));
  reporters.push_back(std::make_unique<TextReporter>(output));
  reporters.push_back(std::make_unique<CountBetween>());
  PipelineOptions options;
  options.stats_interval = std::chrono::hours(1);
  run_pipeline(source, classifier, reporters, options, stop);
  close(null);
  return allocations;
}

TEST(Allocation, NonePerFrameInSteadyState) {
  FakeSource source(/*live=*/false, frames(static_cast<int>(kEnd) + 10, {640, 480}));
  EXPECT_EQ(allocations_of(source), 0);
}

TEST(Allocation, NonePerFrameFromTheTestCamera) {
  TestSourceOptions source_options;
  source_options.pattern = Pattern::kCheckers;
  source_options.fps = 0;
  source_options.frames = kEnd + 10;
  source_options.noise = 10;
  TestSource source(source_options);
  EXPECT_EQ(allocations_of(source), 0);
}

TEST(Allocation, NoneForARawPictureOfACamera) {
  cv::setNumThreads(1);  // as lookout does
  const std::vector<unsigned char> memory(640 * 480 * 3);
  for (const RawFormat format :
       {RawFormat::kBgr, RawFormat::kRgb, RawFormat::kGray, RawFormat::kYuyv, RawFormat::kUyvy,
        RawFormat::kNv12, RawFormat::kNv21, RawFormat::kI420, RawFormat::kYv12}) {
    for (const YuvEncoding encoding : {YuvEncoding{}, YuvEncoding{ColorMatrix::kBt601, true},
                                       YuvEncoding{ColorMatrix::kBt709, false}}) {
      RawPicture picture;
      picture.format = format;
      picture.width = 640;
      picture.height = 480;
      picture.stride = min_stride(format, picture.width);
      picture.encoding = encoding;
      set_planes(memory.data(), picture);
      cv::Mat bgr;
      Preprocessor preprocessor({}, {});
      ImageTensor image;
      const auto take = [&] {
        convert_to_bgr(picture, bgr);
        if (is_subsampled(format)) preprocessor.run(picture, image);
      };
      take();
      allocations = 0;
      counting = true;
      take();
      counting = false;
      EXPECT_EQ(allocations, 0) << static_cast<int>(format) << ' ' << encoding.full_range;
    }
  }
}

TEST(Allocation, TheCounterCounts) {
  allocations = 0;
  counting = true;
  std::free(std::malloc(1));
  delete new int;
  const cv::Mat picture(100, 100, CV_8UC3);
  counting = false;
  EXPECT_GE(allocations, 3);
}

TEST(Copies, AFramesPixelsStayWhereTheSourceWroteThem) {
  // Three frames are in circulation: the source's, the slot's and the classifier's.
  std::set<const void*> written;
  FakeSource source(/*live=*/false, [&](int read, Frame& frame) {
    if (read == 100) return ReadStatus::kEnd;
    fill(frame, read);
    written.insert(frame.bgr.data);
    return ReadStatus::kFrame;
  });
  struct Collect : Reporter {
    explicit Collect(std::set<const void*>& read) : read_(read) {}
    void report(const Result&, const Frame& frame) override { read_.insert(frame.bgr.data); }
    std::set<const void*>& read_;
  };
  std::set<const void*> read;
  std::vector<std::unique_ptr<Reporter>> reporters;
  reporters.push_back(std::make_unique<Collect>(read));
  FakeClassifier classifier;
  const std::atomic<bool> stop{false};
  run_pipeline(source, classifier, reporters, {}, stop);
  EXPECT_EQ(read, written);
  EXPECT_LE(written.size(), 3U);
}

}  // namespace
}  // namespace lookout
