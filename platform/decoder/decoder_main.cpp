// lookout-decoder: the process that decodes the pictures that HTTP clients send, started by
// lookout.
//
// Whatever a picture does to the libraries that decode it happens here, where there is no camera,
// no file, no network and no secret. lookout believes nothing that comes from here.
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <opencv2/core.hpp>

#include "platform/decoder/decoder_protocol.h"
#include "platform/decoder/decoder_sandbox.h"
#include "platform/pictures/decode_upload.h"

namespace lookout {
namespace {

// What a decoder may take besides the pixels that lookout reads, which are mapped before: what it
// keeps of the whole picture, or the pixels that are turned; then the picture's file, and all else.
constexpr std::int64_t kMemory = kReducedBytes + (12 << 20);
constexpr int kFailure = 1;  // an exit status

// Lets pictures be decoded where lookout reads them, one at a time; others have memory of their
// own.
class OutputAllocator : public cv::MatAllocator {
 public:
  OutputAllocator(unsigned char* data, std::size_t size) : data_(data), size_(size) {}

  unsigned char* data() const { return data_; }

  cv::UMatData* allocate(int dims, const int* sizes, int type, void* data, std::size_t* step,
                         cv::AccessFlag flags, cv::UMatUsageFlags usage) const override {
    std::size_t total = CV_ELEM_SIZE(type);
    for (int i = 0; i < dims; ++i) total *= static_cast<std::size_t>(sizes[i]);
    if (data != nullptr || used_ || total > size_) {
      return cv::Mat::getStdAllocator()->allocate(dims, sizes, type, data, step, flags, usage);
    }
    std::size_t row = CV_ELEM_SIZE(type);
    for (int i = dims - 1; i >= 0; --i) {
      if (step != nullptr) step[i] = row;
      row *= static_cast<std::size_t>(sizes[i]);
    }
    auto* memory = new cv::UMatData(this);
    memory->data = memory->origdata = data_;
    memory->size = total;
    used_ = true;
    return memory;
  }

  bool allocate(cv::UMatData* memory, cv::AccessFlag, cv::UMatUsageFlags) const override {
    return memory != nullptr;
  }

  void deallocate(cv::UMatData* memory) const override {
    used_ = false;
    memory->origdata = nullptr;
    delete memory;
  }

 private:
  unsigned char* data_;
  std::size_t size_;
  mutable bool used_ = false;  // allocate() is const
};

// Copies the pixels of one that had to be elsewhere. A large picture is never in memory twice.
void copy_pixels(const cv::Mat& bgr, unsigned char* output) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t size = bgr.total() * bgr.elemSize();
  for (std::size_t done = 0; done < size; done += kDecoderSlice) {
    const std::size_t part = std::min<std::size_t>(kDecoderSlice, size - done);
    std::memcpy(output + done, bgr.data + done, part);
    if (size <= kDecoderKeptBytes) continue;
    // The pages that are copied whole.
    unsigned char* begin = bgr.data + done;
    const std::size_t before = (page - reinterpret_cast<std::uintptr_t>(begin) % page) % page;
    if (part < before + page) continue;
    madvise(begin + before, (part - before) / page * page, MADV_DONTNEED);
  }
}

DecodeAnswer decode(const DecodeOrder& order, const OutputAllocator& output) {
  DecodeLimits limits;
  limits.pixels = order.pixels;
  limits.side = order.side;
  limits.scans = order.scans;
  limits.reduce = order.reduce != 0;
  limits.key = order.key.data();
  // lookout leaves the picture's file alone meanwhile.
  void* file = mmap(nullptr, order.size, PROT_READ, MAP_SHARED, kDecoderInput, 0);
  DecodedPicture picture;
  if (file != MAP_FAILED) {
    picture = decode_upload({static_cast<const char*>(file), order.size}, limits);
    munmap(file, order.size);
  } else {
    picture.fail(DecodeProblem::kNoMemory, message_of(DecodeProblem::kNoMemory));
  }
  DecodeAnswer answer{};
  answer.number = order.number;
  answer.problem = static_cast<std::int32_t>(picture.problem);
  if (picture.problem == DecodeProblem::kNone) {
    answer.width = picture.bgr.cols;
    answer.height = picture.bgr.rows;
    if (picture.bgr.data != output.data()) copy_pixels(picture.bgr, output.data());
  }
  picture.message.copy(answer.message.data(), answer.message.size() - 1);
  return answer;
}

template <typename Message>
bool send_message(const Message& message) {
  return send(kDecoderSocket, &message, sizeof message, MSG_NOSIGNAL) == sizeof message;
}

// Returns an exit status.
int run() {
  struct stat facts {};
  void* output = MAP_FAILED;
  if (fstat(kDecoderOutput, &facts) == 0) {
    output = mmap(nullptr, static_cast<std::size_t>(facts.st_size), PROT_READ | PROT_WRITE,
                  MAP_SHARED, kDecoderOutput, 0);
  }
  if (output == MAP_FAILED) {
    std::fputs("lookout-decoder is a part of lookout\n", stderr);
    return kFailure;
  }
  std::signal(SIGTERM, SIG_IGN);  // lookout ends this process, also when a service is stopped
  cv::setNumThreads(1);
  OutputAllocator allocator(static_cast<unsigned char*>(output),
                            static_cast<std::size_t>(facts.st_size));
  cv::Mat::setDefaultAllocator(&allocator);
  DecoderReport report{};
  report.filter_error = enter_sandbox(kMemory, facts.st_size);
  if (!send_message(report)) return kFailure;
  DecodeOrder order{};
  while (recv(kDecoderSocket, &order, sizeof order, 0) == sizeof order) {
    if (!send_message(decode(order, allocator))) return kFailure;
  }
  return 0;
}

}  // namespace
}  // namespace lookout

int main() {
  // Without destructors of libraries, which may want what the sandbox took.
  _exit(lookout::run());
}
