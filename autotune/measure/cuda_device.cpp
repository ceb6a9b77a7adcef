#include "autotune/measure/cuda_device.h"

#include <dlfcn.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <stdexcept>

namespace normforge {

namespace {

using DevicePointer = uint64_t;

DevicePointer pointer(const char *memory) {
    return reinterpret_cast<DevicePointer>(memory);
}

// One entry point: called as a function, it throws where the driver gives an error.
template <typename... Arguments>
class Entry {
public:
    Entry(void *library, const char *name) : name_(name) {
        void *symbol = dlsym(library, name);
        if (!symbol) {
            throw std::runtime_error("the CUDA driver has no " + name_);
        }
        std::memcpy(&function_, &symbol, sizeof function_);
    }

    void operator()(Arguments... arguments) const {
        if (const int result = function_(arguments...)) {
            throw std::runtime_error(name_ + ": the CUDA driver's error " + std::to_string(result));
        }
    }

private:
    std::string name_;
    int (*function_)(Arguments...);
};

void *open_driver() {
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        throw std::runtime_error("there is no CUDA driver, libcuda.so.1");
    }
    return library;
}

}  // namespace

struct CudaDevice::Driver {
    void *library = open_driver();
    Entry<unsigned> init{library, "cuInit"};
    Entry<int *> version{library, "cuDriverGetVersion"};
    Entry<int *, int> get_device{library, "cuDeviceGet"};
    Entry<char *, int, int> get_name{library, "cuDeviceGetName"};
    Entry<int *, int, int> get_attribute{library, "cuDeviceGetAttribute"};
    Entry<void **, int> retain_context{library, "cuDevicePrimaryCtxRetain"};
    Entry<void *> set_context{library, "cuCtxSetCurrent"};
    Entry<> synchronize{library, "cuCtxSynchronize"};
    Entry<DevicePointer *, size_t> allocate{library, "cuMemAlloc_v2"};
    Entry<DevicePointer> free{library, "cuMemFree_v2"};
    Entry<DevicePointer, const void *, size_t> to_device{library, "cuMemcpyHtoD_v2"};
    Entry<void *, DevicePointer, size_t> to_host{library, "cuMemcpyDtoH_v2"};
    Entry<DevicePointer, DevicePointer, size_t, void *> on_device{library, "cuMemcpyDtoDAsync_v2"};
    Entry<void **, unsigned> create_event{library, "cuEventCreate"};
    Entry<void *, void *> record_event{library, "cuEventRecord"};
    Entry<void *> wait_for_event{library, "cuEventSynchronize"};
    Entry<float *, void *, void *> milliseconds{library, "cuEventElapsedTime"};
};

CudaDevice::CudaDevice() : driver_(new Driver) {
    void *context = nullptr;
    driver_->init(0);
    driver_->get_device(&device_, 0);
    driver_->retain_context(&context, device_);
    driver_->set_context(context);
    driver_->create_event(&start_, 0);
    driver_->create_event(&stop_, 0);
}

// At the program's end, which frees what the driver still holds.
CudaDevice::~CudaDevice() {
    delete driver_;
}

std::string CudaDevice::name() const {
    std::array<char, 256> name{};
    driver_->get_name(name.data(), static_cast<int>(name.size()) - 1, device_);
    return name.data();
}

int CudaDevice::driver_version() const {
    int version = 0;
    driver_->version(&version);
    return version;
}

int CudaDevice::attribute(int number) const {
    int value = 0;
    driver_->get_attribute(&value, number, device_);
    return value;
}

char *CudaDevice::allocate(size_t bytes) const {
    DevicePointer memory = 0;
    driver_->allocate(&memory, bytes);
    return reinterpret_cast<char *>(memory);
}

void CudaDevice::free(char *memory) const {
    driver_->free(pointer(memory));
}

void CudaDevice::copy_to_device(char *to, const void *from, size_t bytes) const {
    driver_->to_device(pointer(to), from, bytes);
}

void CudaDevice::copy_to_host(void *to, const char *from, size_t bytes) const {
    driver_->to_host(to, pointer(from), bytes);
}

void CudaDevice::copy_on_device(char *to, const char *from, size_t bytes) const {
    driver_->on_device(pointer(to), pointer(from), bytes, nullptr);
}

void CudaDevice::wait() const {
    driver_->synchronize();
}

void CudaDevice::record(void *event) const {
    driver_->record_event(event, nullptr);
}

double CudaDevice::seconds_between() const {
    float milliseconds = 0;
    driver_->wait_for_event(stop_);
    driver_->milliseconds(&milliseconds, start_, stop_);
    return milliseconds * 1e-3;
}

}  // namespace normforge
