// Lowers the rate of classifications so that the processor stays below a temperature.
#pragma once

#include <chrono>
#include <optional>

namespace lookout {

// A Raspberry Pi 4 lowers its clock from 80 °C on, in steps, and stays there: each frame then takes
// longer, and none is cheaper (raspberrypi.com, "Frequency management and thermal control"). This
// gives up frames instead, before that.
//
// The temperature is held 2 K below the limit by a PI controller, whose output is the share of the
// full rate, the highest that was seen. Between 15 K below the limit and this point it begins as
// soon as the temperature would reach the point within 20 s. It begins with what is too much at the
// temperature to be expected in 60 s, so that a board that warms up fast is caught in spite of the
// delay of its sensor. It ends when the full rate has been allowed for a minute and the temperature
// is 1.5 K below the point.
//
// The constants are for a board that warms up by 35 K from idle to the full rate within 30 s, an
// estimate for a Raspberry Pi 4 without a heat sink. With a gain of 1.5 over these 35 K and an
// integral time of 60 s the rate settles on simulated boards with half and with twice the warming,
// with time constants from 30 to 300 s and with a dead time of up to 5 s. The sensor of the BCM2711
// counts in 0.487 K (Linux, bcm2711_thermal.c), which a smoothing over 2 s and a dead band of 0.3 K
// keep away from the rate.
//
// A pure value: it has no clock and reads no sensor. Not thread-safe. Allocates nothing.
class HeatLimit {
 public:
  // What is worth a line in the log.
  enum class Event {
    kNone,
    kNoSensor,  // the first reading was missing: nothing is limited unless one comes; told once
    kStarted,   // from now on the rate is limited
    kEnded,     // no longer
  };

  // The rate is never made lower than this, in classifications a second.
  static constexpr double kMinRate = 1;

  // `limit`: degrees Celsius.
  explicit HeatLimit(double limit) : limit_(limit) {}

  // To be called about once a second; calls that come within a second of the last reading change
  // nothing. `now`: on any steady clock. `temperature`: of the processor, in degrees Celsius;
  // nothing: the sensor did not tell it, and the rate stays. `rate`: classifications a second, as
  // measured over the last seconds.
  Event update(std::chrono::nanoseconds now, std::optional<double> temperature, double rate);

  // Classifications a second that are allowed; nothing: any number.
  std::optional<double> rate() const;

 private:
  double set_point() const;
  void smooth(double seconds, double temperature);
  Event begin(double rate);
  Event control(double seconds, double change);

  double limit_;
  bool no_sensor_told_ = false;
  std::optional<std::chrono::nanoseconds> last_;  // reading
  double temperature_ = 0;                        // smoothed
  double slope_ = 0;                              // K a second, smoothed
  double full_rate_ = 0;                          // the highest so far
  std::optional<double> share_;                   // of the full rate; nothing: no limit
  double idle_seconds_ = 0;                       // for which the limit has limited nothing
};

}  // namespace lookout
