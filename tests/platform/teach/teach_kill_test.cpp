// What a library has kept when its process is killed.
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <random>
#include <thread>

#include "platform/teach/opened_library.h"
#include "tests/support/memory_dir.h"

namespace lookout {
namespace {

// In memory that outlives the teacher: what was answered.
struct Answered {
  std::atomic<std::int64_t> newest{0};      // picture
  std::atomic<std::int64_t> relabelled{0};  // all pictures up to this number
};

std::string jpeg_of(std::int64_t number) {
  return std::string(static_cast<std::size_t>(2000 + number % 500), 'j');
}

// Teaches until it is killed. `begun`: a pipe, which gets a byte before each picture.
[[noreturn]] void teach(const std::filesystem::path& folder, Answered& answered, int begun) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // a test that is killed leaves nobody
  TeachLimits limits;
  limits.free = 0;
  limits.pictures = 100'000;
  const OpenedLibrary opened = open_library(folder, limits);
  if (!opened.damage.empty()) _exit(1);
  TeachLibrary& library = *opened.library;
  if (library.watches().empty()) library.add_watch({"gate", "", {0, 0, 1, 1}, {"a", "b"}, 0});
  for (std::int64_t number = answered.newest + 1;; ++number) {
    if (write(begun, "", 1) != 1) _exit(1);
    NewPicture picture;
    picture.watch = "gate";
    picture.label = "a";
    answered.newest = library.add_picture(picture, jpeg_of(number));
    if (number % 3 != 0) continue;
    const std::int64_t newest = answered.newest;
    library.change({{newest, "b"}, {newest - 1, "b"}}, {});
    answered.relabelled = newest;
  }
}

TEST(TeachKill, NoAnsweredLabelIsLostAndNoPictureIsHalf) {
  const MemoryDir directory;
  const std::filesystem::path folder = directory.path() / "teach";
  void* const memory =
      mmap(nullptr, sizeof(Answered), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto& answered = *new (memory) Answered;
  std::mt19937 random(39);
  constexpr int kKills = 200;
  constexpr int kMostPictures = 5;  // that a teacher begins before it may be killed
  for (int kill = 0; kill < kKills; ++kill) {
    std::array<int, 2> begun{};
    ASSERT_EQ(pipe(begun.data()), 0);
    const pid_t teacher = fork();
    if (teacher == 0) teach(folder, answered, begun[1]);
    close(begun[1]);
    char byte = 0;
    for (auto pictures = random() % kMostPictures + 1; pictures > 0; --pictures) {
      ASSERT_EQ(read(begun[0], &byte, 1), 1) << "the teacher found damage";
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 5'000));
    ::kill(teacher, SIGKILL);
    close(begun[0]);
    int status = 0;
    ASSERT_EQ(waitpid(teacher, &status, 0), teacher);
    ASSERT_TRUE(WIFSIGNALED(status));
    const OpenedLibrary opened = open_library(folder);
    ASSERT_TRUE(opened.damage.empty()) << opened.damage;
    std::int64_t newest = 0;
    for (const TaughtPicture& picture : opened.library->labelled("gate")) {
      newest = picture.number;
      ASSERT_EQ(file_size(opened.library->file(newest)),
                static_cast<std::uintmax_t>(picture.bytes));
      if (newest == answered.relabelled || newest == answered.relabelled - 1) {
        ASSERT_EQ(picture.label, "b") << "a label is lost, at kill " << kill;
      }
    }
    ASSERT_GE(newest, answered.newest) << "a picture is lost, at kill " << kill;
    ASSERT_FALSE(exists(opened.library->file(newest + 1))) << "a picture without a row";
    answered.newest = newest;
  }
  EXPECT_GT(answered.newest, kKills);
  munmap(memory, sizeof(Answered));
}

}  // namespace
}  // namespace lookout
