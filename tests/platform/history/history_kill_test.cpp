// What a history has kept when its process is killed, and what it writes.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <fstream>
#include <limits>
#include <random>
#include <string_view>
#include <thread>
#include <utility>

#include "platform/history/history_reader.h"
#include "platform/history/history_recorder.h"
#include "tests/support/memory_dir.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

// 2026-11-21 12:00:00 UTC
const HistoryTime kFirst{seconds(1795262400)};
constexpr int kChangesInBatch = 10;

// In memory that outlives the writer.
struct Progress {
  std::atomic<std::int64_t> batches{0};  // of all writers, committed
};

// Writes until it is killed: batches, pictures, and sums of what is old.
// `begun`: a pipe, which gets a byte before each batch.
[[noreturn]] void write_batches(const std::filesystem::path& folder, Progress& progress,
                                int begun) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // a test that is killed leaves no writer
  const OpenedHistory opened = open_history(folder);
  if (!opened.damage.empty()) _exit(1);
  HistoryLimits limits;
  limits.changes = hours(1);
  limits.picture_bytes = 200'000;
  for (std::int64_t batch = progress.batches;; ++batch) {
    if (write(begun, "", 1) != 1) _exit(1);
    std::vector<HistoryChange> changes;
    for (int i = 0; i < kChangesInBatch; ++i) {
      HistoryChange change;
      change.at = kFirst + 10 * seconds(batch * kChangesInBatch + i);
      change.state = i % 2 == 0 ? "open" : "closed";
      change.model = "gate.pt";
      change.number = opened.store->take_number();
      if (i == 0 && batch % 16 == 0) {
        const std::string jpeg(5000, 'x');
        opened.store->write_picture(change.number, jpeg);
        change.picture = static_cast<std::int64_t>(jpeg.size());
      }
      changes.push_back(std::move(change));
    }
    opened.store->add(changes);
    progress.batches = batch + 1;
    if (batch % 8 == 0) opened.store->trim_pictures(limits);
    if (batch % 4 == 0) opened.store->purge(changes.back().at, limits);
  }
}

std::int64_t changes_in(const std::filesystem::path& folder) {
  HistoryReader reader(folder);
  const HistoryQuery all{{}, {}, kFirst, kFirst + hours(24 * 3650)};
  std::int64_t changes = 0;
  for (const HourOfState& hour : reader.hours(all, *reader.last_seen() + seconds(1), 100'000).rows)
    changes += hour.changes;
  return changes;
}

// Changes whose picture is not whole.
int half_pictures(const std::filesystem::path& folder) {
  HistoryReader reader(folder);
  const HistoryQuery all{{}, {}, kFirst, kFirst + hours(24 * 3650)};
  int half = 0;
  for (const HistoryEvent& event : reader.events(all, {}, std::numeric_limits<int>::max())) {
    if (event.picture == 0) continue;
    const auto file = reader.picture(event.number);
    if (!file || file_size(*file) != static_cast<std::uintmax_t>(event.picture)) ++half;
  }
  return half;
}

TEST(HistoryKill, NoCommittedBatchIsLostAndNoneIsHalf) {
  const MemoryDir directory;
  const std::filesystem::path folder = directory.path() / "history";
  void* const memory =
      mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto& progress = *new (memory) Progress;
  std::mt19937 random(39);
  constexpr int kKills = 200;
  constexpr int kMostBatches = 5;  // that a writer begins before it may be killed
  for (int kill = 0; kill < kKills; ++kill) {
    std::array<int, 2> begun{};
    ASSERT_EQ(pipe(begun.data()), 0);
    const pid_t writer = fork();
    if (writer == 0) write_batches(folder, progress, begun[1]);
    close(begun[1]);
    // At any moment of one of a few batches.
    char byte = 0;
    for (auto batches = random() % kMostBatches + 1; batches > 0; --batches) {
      ASSERT_EQ(read(begun[0], &byte, 1), 1) << "the writer found damage";
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 3'000));
    ::kill(writer, SIGKILL);
    close(begun[0]);
    int status = 0;
    ASSERT_EQ(waitpid(writer, &status, 0), writer);
    ASSERT_TRUE(WIFSIGNALED(status));
    const std::int64_t changes = changes_in(folder);
    ASSERT_EQ(changes % kChangesInBatch, 0) << "half a batch, at kill " << kill;
    // A commit may have ended before it was noted.
    const std::int64_t batches = changes / kChangesInBatch;
    ASSERT_GE(batches, progress.batches) << "a batch is lost, at kill " << kill;
    ASSERT_LE(batches, progress.batches + 1);
    ASSERT_EQ(half_pictures(folder), 0) << "at kill " << kill;
    progress.batches = batches;
  }
  EXPECT_TRUE(open_history(folder).damage.empty());
  EXPECT_GT(progress.batches, kKills);
  munmap(memory, sizeof(Progress));
}

// What the kernel counts of this process in /proc/self/io; -1: it counts nothing.
std::int64_t count_of_io(std::string_view counter) {
  std::ifstream io("/proc/self/io");
  for (std::string name; io >> name;) {
    std::int64_t bytes = 0;
    io >> bytes;
    if (name == counter) return bytes;
  }
  return -1;
}

constexpr std::int64_t kMegabyte = 1'000'000;
constexpr int kChangesADay = 1000;
constexpr int kSecondsADay = 86'400;

// Writes what the kernel holds of the files, as it does by itself within half a minute: a page that
// is changed again later counts again. One of them, history.db-shm, is memory that readers share.
void synchronise(const std::filesystem::path& folder) {
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    const int fd = open(file.path().c_str(), O_RDONLY | O_CLOEXEC);
    sync_file_range(
        fd, 0, 0, SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
    close(fd);
  }
}

// A day of kChangesADay changes by two watches, in bursts of `burst`, three seconds apart. For
// three quarters of the day changes become too old, too. Returns what was written in bytes: of
// whole pages of the kernel.
std::int64_t write_day(int burst) {
  const TempDir directory;
  HistoryOptions options;
  options.folder = directory.path() / "history";
  options.limits.changes = hours(6);
  HistoryRecorder recorder(options);
  HistoryNow now{kFirst, seconds(0)};
  recorder.advance(now);
  const std::int64_t before = count_of_io("write_bytes:");
  const double pause = static_cast<double>(kSecondsADay) * burst / kChangesADay;
  int changes = 0;
  std::uint64_t written = 0;
  for (int second = 0; second < kSecondsADay; ++second) {
    const int nth = changes % burst;
    if (changes < kChangesADay && second >= (changes / burst) * pause + 3.0 * nth) {
      HistoryChange change;
      change.at = now.wall;
      change.watch = changes % 4 < 2 ? "gate" : "light";
      change.state = changes % 2 == 0 ? "open" : "closed";
      change.model = "gate.pt";
      recorder.add(std::move(change), {});
      ++changes;
    }
    now.wall += seconds(1);
    now.uptime += seconds(1);
    recorder.advance(now);
    if (std::exchange(written, recorder.counts().written) != recorder.counts().written)
      synchronise(options.folder);
  }
  recorder.finish(now);
  EXPECT_EQ(recorder.counts().written, kChangesADay);
  return before < 0 ? 0 : count_of_io("write_bytes:") - before;
}

// In bursts of ten, and evenly spread, when there is nothing to write together.
TEST(HistoryBudget, ADayOfAThousandChangesWritesLessThanFourMegabytes) {
  for (const int burst : {10, 1}) {
    const std::int64_t written = write_day(burst);
    if (written == 0) GTEST_SKIP() << "this kernel does not count what is written to these files";
    EXPECT_LT(written, 4 * kMegabyte) << "in bursts of " << burst;
    RecordProperty("written_in_bursts_of_" + std::to_string(burst), std::to_string(written));
  }
}

TEST(HistoryBudget, NinetyDaysOfAThousandChangesTakeAboutThreeMegabytes) {
  const TempDir directory;
  const std::filesystem::path folder = directory.path() / "history";
  {
    HistoryStore store(folder);
    for (int day = 0; day < 90; ++day) {
      std::vector<HistoryChange> changes;
      for (int i = 0; i < kChangesADay; ++i) {
        HistoryChange change;
        change.at = kFirst + hours(24 * day) + milliseconds(86'400 * i + i % 977);
        change.state = i % 2 == 0 ? "open" : "closed";
        change.score = 0.9F;
        change.model = "gate.pt";
        change.number = store.take_number();
        changes.push_back(std::move(change));
      }
      store.add(changes);
    }
  }
  const auto bytes = static_cast<std::int64_t>(file_size(folder / kHistoryFile));
  EXPECT_LT(bytes, 3 * kMegabyte + kMegabyte / 4);
  RecordProperty("bytes", std::to_string(bytes));
}

}  // namespace
}  // namespace lookout
