// A Vulkan loader that loses the device when a test wants it to. It passes all functions on to the loader that
// THRONG_REAL_LOADER names. If the file that THRONG_LOSE names exists, the next frame removes it and is lost. A frame
// is a vkQueueSubmit2 of two batches; uploads have one.
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef void (*Function)(void);
typedef Function (*Lookup)(void *owner, const char *name);
typedef int32_t (*Submit)(void *queue, uint32_t count, const void *submits, uint64_t fence);

static Lookup of_instance, of_device;
static Submit real_submit;

static int32_t submit(void *queue, uint32_t count, const void *submits, uint64_t fence) {
    const int32_t device_lost = -4;
    // The frame is drawn all the same: validation layer 1.3.239 crashes in vkDeviceWaitIdle if it never sees it.
    int32_t result = real_submit(queue, count, submits, fence);
    return count == 2 && unlink(getenv("THRONG_LOSE")) == 0 ? device_lost : result;
}

static Function look_up(Lookup lookup, void *owner, const char *name);

static Function look_up_of_device(void *device, const char *name) { return look_up(of_device, device, name); }

Function vkGetInstanceProcAddr(void *instance, const char *name) {
    if (!of_instance) {
        void *loader = dlopen(getenv("THRONG_REAL_LOADER"), RTLD_NOW | RTLD_LOCAL);
        *(void **)&of_instance = loader ? dlsym(loader, "vkGetInstanceProcAddr") : 0;
        if (!of_instance) abort();
    }
    return look_up(of_instance, instance, name);
}

static Function look_up(Lookup lookup, void *owner, const char *name) {
    Function found = lookup(owner, name);
    if (!found) return found;
    if (!strcmp(name, "vkGetDeviceProcAddr")) {
        of_device = (Lookup)found;
        return (Function)look_up_of_device;
    }
    if (!strcmp(name, "vkQueueSubmit2")) {
        real_submit = (Submit)found;
        return (Function)submit;
    }
    return found;
}
