#pragma once

#include <cstddef>
#include <string>

namespace normforge {

// The machine's first CUDA device and its memory, by the driver, opened at run time. Every call throws
// std::runtime_error with the driver's number where it refuses.
class CudaDevice {
public:
    // Makes the device's own context current for this thread.
    CudaDevice();
    ~CudaDevice();
    CudaDevice(const CudaDevice &) = delete;
    CudaDevice &operator=(const CudaDevice &) = delete;

    std::string name() const;
    int driver_version() const;
    int attribute(int number) const;  // by the driver's numbers of them

    char *allocate(size_t bytes) const;
    void free(char *memory) const;
    void copy_to_device(char *to, const void *from, size_t bytes) const;
    void copy_to_host(void *to, const char *from, size_t bytes) const;

    // What follows is done in the order of the calls, on the default stream; wait() waits for all of it.
    void copy_on_device(char *to, const char *from, size_t bytes) const;
    void wait() const;

    // The seconds that the device takes for what `work` has it do.
    template <typename Work>
    double seconds(Work &&work) const {
        record(start_);
        work();
        record(stop_);
        return seconds_between();
    }

private:
    struct Driver;
    void record(void *event) const;
    double seconds_between() const;

    Driver *driver_;
    int device_ = 0;
    void *start_ = nullptr;
    void *stop_ = nullptr;
};

// Memory of the device while this lives.
class DeviceMemory {
public:
    DeviceMemory(const CudaDevice &device, size_t bytes) : device_(device), data_(device.allocate(bytes)) {}
    ~DeviceMemory() { device_.free(data_); }
    DeviceMemory(const DeviceMemory &) = delete;
    DeviceMemory &operator=(const DeviceMemory &) = delete;

    char *data() const { return data_; }

private:
    const CudaDevice &device_;
    char *data_;
};

}  // namespace normforge
