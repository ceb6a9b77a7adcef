#include "autotune/database/file_system.h"

#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

namespace normforge {

namespace {

constexpr int64_t kNetworkFileSystems[] = {
    NFS_SUPER_MAGIC, SMB_SUPER_MAGIC, CIFS_SUPER_MAGIC, SMB2_SUPER_MAGIC, V9FS_MAGIC, FUSE_SUPER_MAGIC,
    CEPH_SUPER_MAGIC, AFS_SUPER_MAGIC, AFS_FS_MAGIC, CODA_SUPER_MAGIC, OCFS2_SUPER_MAGIC,
    // Not in Linux's own headers:
    0x01161970,  // GFS2
    0x0BD00BD0,  // Lustre
    0x19830326,  // BeeGFS
    0x47504653,  // GPFS
};

}  // namespace

bool is_network_file_system(int64_t type) {
    return std::ranges::find(kNetworkFileSystems, type) != std::end(kNetworkFileSystems);
}

int64_t file_system_type(const std::string &path) {
    struct statfs status {};
    return statfs(path.c_str(), &status) == 0 ? static_cast<int64_t>(status.f_type) : 0;
}

bool is_immutable(const std::string &path) {
    const std::string folder = std::filesystem::absolute(path).parent_path();
    const bool is_fixed = access(path.c_str(), W_OK) != 0 || access(folder.c_str(), W_OK) != 0;
    return is_fixed && access((path + "-wal").c_str(), F_OK) != 0 &&
           access((path + "-journal").c_str(), F_OK) != 0;
}

}  // namespace normforge
