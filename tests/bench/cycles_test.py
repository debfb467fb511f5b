#!/usr/bin/python3
"""The arithmetic of cycles.py on small fixed inputs: needs neither the emulator nor llvm-mca."""

import pathlib
import tempfile
import unittest

import cycles
import emulator

COUNTS = """\
400000-401000 r-xp 00001000 08:01 11 /lib/kernels.so
7f0000-7f1000 rw-p 00000000 00:00 0

400010 8 100
400030 4 1000
400030 4 500
7f0000 2 7
"""

SIMULATED = """\

[0] Code Region - 0

Iterations:        100
Instructions:      800
Total Cycles:      1610
Total uOps:        900

[1] Code Region - 1

Iterations:        100
Instructions:      400
Total Cycles:      205
"""

FEW = {("a.so", 16, 8): 10, ("a.so", 48, 4): 100}
MANY = {("a.so", 16, 8): 30, ("a.so", 48, 4): 300, ("b.so", 0, 2): 10, ("-", 0, 5): 2}


class CyclesTest(unittest.TestCase):
    def test_blocks_are_read_by_their_place_in_a_file(self):
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write(COUNTS)
            file.flush()
            blocks = emulator.read_blocks(file.name)
            places = emulator.Counts().read(file.name)
        self.assertEqual(
            blocks,
            {
                ("/lib/kernels.so", 0x1010, 8): 100,
                ("/lib/kernels.so", 0x1030, 4): 1500,  # it was translated twice
                ("-", 0, 2): 7,
            },
        )
        self.assertEqual(places["/lib/kernels.so", 0x1030], 6000)

    def test_a_run_is_the_difference_of_two(self):
        blocks = cycles.difference(FEW, MANY, 2)
        self.assertEqual(
            blocks,
            {("a.so", 16, 8): 10, ("a.so", 48, 4): 100, ("b.so", 0, 2): 5, ("-", 0, 5): 1},
        )

    def test_the_blocks_with_the_most_instructions_are_modelled(self):
        blocks = cycles.difference(FEW, MANY, 2)  # 80 + 400 + 10 + 5 instructions
        self.assertEqual(cycles.hottest(blocks, 0.8), [("a.so", 48, 4)])
        self.assertEqual(cycles.hottest(blocks, 0.81), [("a.so", 48, 4), ("a.so", 16, 8)])
        self.assertEqual(len(cycles.hottest(blocks, 1)), 3)  # code of no file has no bytes

    def test_calls_and_returns_are_left_out(self):
        text = cycles.regions_of([["\tsmull\tv0.8h, v1.8b, v2.8b", "\tb.ne\t#-8"], ["\tbl\t#400", "\tret"]])
        self.assertEqual(
            text,
            "# LLVM-MCA-BEGIN 0\n\tsmull\tv0.8h, v1.8b, v2.8b\n\tb.ne\t#-8\n# LLVM-MCA-END\n"
            "# LLVM-MCA-BEGIN 1\nnop\n# LLVM-MCA-END\n",
        )

    def test_cycles_are_those_of_one_iteration(self):
        self.assertEqual(cycles.cycles_of(SIMULATED), {0: 16.1, 1: 2.05})
        self.assertEqual(cycles.cycles_of(""), {})

    def test_blocks_without_cycles_take_as_many_an_instruction(self):
        blocks = {("a.so", 0, 10): 100, ("a.so", 64, 5): 20}
        self.assertAlmostEqual(cycles.modelled_cycles(blocks, {("a.so", 0, 10): 4}), 440)
        both = {("a.so", 0, 10): 4, ("a.so", 64, 5): 5}
        self.assertAlmostEqual(cycles.modelled_cycles(blocks, both), 500)

    def test_the_factor_fits_both_published_times(self):
        # 26.4 ms and 17 ms of four cores at 1.5 GHz are 158.4 and 102 million cycles.
        factor, error = cycles.factor_of({"quint8": 158.4e6 / 1.5, "qint8": 102e6 / 1.7})
        self.assertAlmostEqual(factor, 1.6)
        self.assertAlmostEqual(error, 0.1 / 1.6 + 0.2)  # and the clock, which may have been 1.8 GHz

    def test_a_kernel_of_floats_is_known_by_its_multiplications(self):
        self.assertTrue(cycles.is_float(["\tldr\tq0, [x1]", "\tfmla\tv1.4s, v2.4s, v0.s[0]"]))
        self.assertFalse(cycles.is_float(["\tsmlal\tv0.8h, v1.8b, v2.8b", "\tfcvtns\tv0.4s, v0.4s"]))

    def test_a_missing_tool_is_a_reason(self):
        with self.assertRaisesRegex(cycles.Skipped, "llvm-mc-0 is not there"):
            cycles.Model("0")


if __name__ == "__main__":
    unittest.main()
