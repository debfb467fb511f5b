#include "tests/support/thread_load.h"

#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "pipeline/model/warm_up.h"

namespace lookout {
namespace {

constexpr long kSecond = 100;  // in clock ticks

// CPU time of each thread of this process, in clock ticks; proc(5), fields utime and stime.
std::map<std::string, long> thread_ticks() {
  std::map<std::string, long> ticks;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream file(task.path() / "stat");
    std::string line;
    if (!std::getline(file, line)) continue;  // it has ended meanwhile
    std::istringstream fields(line.substr(line.rfind(')') + 2));
    std::string skipped;
    for (int i = 0; i < 11; ++i) fields >> skipped;
    long user = 0;
    long system = 0;
    fields >> user >> system;
    ticks[task.path().filename()] = user + system;
  }
  return ticks;
}

// What each thread did since `before`; returns the sum.
long work_since(const std::map<std::string, long>& before, std::map<std::string, long>& work) {
  work = thread_ticks();
  long all = 0;
  for (auto& [thread, ticks] : work) {
    const auto known = before.find(thread);
    if (known != before.end()) ticks -= known->second;
    all += ticks;
  }
  return all;
}

// Threads that a library starts when it is loaded may spin before they sleep, as OpenBLAS's do: on
// a machine that has other work, while the model classifies.
void wait_until_others_sleep() {
  constexpr int kMaxRounds = 50;
  const std::string self = std::to_string(gettid());
  std::map<std::string, long> work;
  for (int round = 0; round < kMaxRounds; ++round) {
    const std::map<std::string, long> before = thread_ticks();
    long all = 0;
    do {
      all = work_since(before, work);
    } while (work[self] < kSecond / 10);
    if (all == work[self]) return;
  }
}

}  // namespace

int busy_threads(Classifier& classifier) {
  const ImageTensor image = blank_image(classifier.spec().input);
  std::vector<float> logits;
  wait_until_others_sleep();
  const std::map<std::string, long> before = thread_ticks();
  std::map<std::string, long> work;
  long all = 0;
  while (all < kSecond) {
    for (int i = 0; i < 20; ++i) classifier.classify(image, {}, logits);
    all = work_since(before, work);
  }
  return static_cast<int>(std::count_if(work.begin(), work.end(),
                                        [all](const auto& t) { return t.second * 20 > all; }));
}

double work_of_others(Classifier& classifier) {
  const ImageTensor image = blank_image(classifier.spec().input);
  std::vector<float> logits;
  wait_until_others_sleep();
  const std::string self = std::to_string(gettid());
  const std::map<std::string, long> before = thread_ticks();
  std::map<std::string, long> work;
  long all = 0;
  do {
    const std::clock_t start = std::clock();
    classifier.classify(image, {}, logits);
    const std::clock_t end = std::clock();
    // An emulator takes long to classify: ten times that leaves the threads' own work small.
    const std::clock_t pause = std::max<std::clock_t>(CLOCKS_PER_SEC / 200, 10 * (end - start));
    while (std::clock() - end < pause) {
    }
    all = work_since(before, work);
  } while (work[self] < kSecond / 2);
  return static_cast<double>(all - work[self]) / static_cast<double>(work[self]);
}

}  // namespace lookout
