// The runner of ../cases.json; called by tests.cpp.
#pragma once
#include <string>

struct Counts {
    int passed = 0, failed = 0;
};

// Runs every case of the file and prints those that fail. Throws where there is no such file.
Counts run_cases(const std::string &path);
