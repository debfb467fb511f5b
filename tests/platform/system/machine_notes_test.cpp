#include "platform/system/machine_notes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lookout {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(MachineNotes, GovernorsThatLowerTheClockAreNamedWithWhatToDo) {
  SystemInfo system;
  EXPECT_EQ(governor_note(system), "") << "not known";
  for (const char* governor : {"performance", "schedutil", "userspace"}) {
    system.governor = governor;
    EXPECT_EQ(governor_note(system), "") << governor;
  }
  for (const char* governor : {"ondemand", "conservative", "powersave"}) {
    system.governor = governor;
    EXPECT_THAT(governor_note(system), AllOf(HasSubstr(std::string("governor ") + governor),
                                             HasSubstr("scaling_governor")));
  }
}

TEST(MachineNotes, WhatHappenedSinceTheStartIsToldWithItsSourceAndTheWayOut) {
  MachineState state;
  EXPECT_EQ(power_note(state), "") << "not known";
  state.throttled = 0;
  EXPECT_EQ(power_note(state), "");
  state.throttled = 0x10000;
  EXPECT_EQ(power_note(state),
            "under-voltage since the start (get_throttled 0x10000); under-voltage needs a stronger "
            "power supply or a shorter cable");
  state.throttled = 0x40000;
  EXPECT_THAT(power_note(state), AllOf(HasSubstr("was throttled since the start"),
                                       HasSubstr("cooling"), Not(HasSubstr("under-voltage"))));
  state.throttled = 1;
  state.voltage_alone = true;
  EXPECT_THAT(power_note(state), HasSubstr("under-voltage now (rpi_volt)"));
}

TEST(MachineNotes, ALimitOfHeatThatDoesNothingIsTold) {
  MachineState state;
  EXPECT_EQ(heat_note(state, std::nullopt), "");
  EXPECT_THAT(heat_note(state, 70), HasSubstr("no sensor"));
  state.temperature = 50;
  EXPECT_EQ(heat_note(state, 70), "");
  EXPECT_EQ(heat_note(state, 80), "");
  EXPECT_THAT(heat_note(state, 85), HasSubstr("at 80 °C already"));
}

}  // namespace
}  // namespace lookout
