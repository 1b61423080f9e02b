"""Numbers of the system calls that a worker is refused, for each machine.

Sources: `asm/unistd_64.h` (x86_64) and `asm-generic/unistd.h` (aarch64, which lacks the older
calls) of the Linux headers.
"""

from __future__ import annotations

NEWEST = 462  # mseal, Linux 6.10; calls that later kernels add are refused

_EVERYWHERE = dict(  # calls from 424 on have the same number on every machine
    cachestat=451, clone3=435, fchmodat2=452, fsconfig=431, fsmount=432, fsopen=430, fspick=433,
    io_uring_enter=426, io_uring_register=427, io_uring_setup=425, landlock_create_ruleset=444,
    listmount=458, memfd_secret=447, mount_setattr=442, move_mount=429, open_tree=428, openat2=437,
    pidfd_getfd=438, pidfd_open=434, pidfd_send_signal=424, process_madvise=440,
    process_mrelease=448, quotactl_fd=443, statmount=457,
)  # fmt: skip

X86_64 = _EVERYWHERE | dict(
    accept=43, accept4=288, acct=163, add_key=248, adjtimex=159, bind=49, bpf=321, capset=126,
    chmod=90, chown=92, chroot=161, clock_adjtime=305, clock_settime=227, clone=56, connect=42,
    delete_module=176, execve=59, execveat=322, fallocate=285, fanotify_init=300, fanotify_mark=301,
    fchmod=91, fchmodat=268, fchown=93, fchownat=260, fcntl=72, finit_module=313, flock=73, fork=57,
    fremovexattr=199, fsetxattr=190, futimesat=261, get_robust_list=274, getxattr=191,
    init_module=175, inotify_add_watch=254, inotify_init=253, inotify_init1=294, io_pgetevents=333,
    io_setup=206, io_submit=209, ioctl=16, ioperm=173, iopl=172, ioprio_set=251, kcmp=312,
    kexec_file_load=320, kexec_load=246, keyctl=250, kill=62, lchown=94, lgetxattr=192, listen=50,
    listxattr=194, llistxattr=195, lookup_dcookie=212, lremovexattr=198, lsetxattr=189,
    memfd_create=319, migrate_pages=256, mknod=133, mknodat=259, mmap=9, mount=165, move_pages=279,
    mq_getsetattr=245, mq_notify=244, mq_open=240, mq_timedreceive=243, mq_timedsend=242,
    mq_unlink=241, msgctl=71, msgget=68, msgrcv=70, msgsnd=69, name_to_handle_at=303, open=2,
    open_by_handle_at=304, openat=257, perf_event_open=298, personality=135, pivot_root=155,
    prctl=157, prlimit64=302, process_vm_readv=310, process_vm_writev=311, ptrace=101, quotactl=179,
    reboot=169, removexattr=197, request_key=249, rt_sigqueueinfo=129, rt_tgsigqueueinfo=297,
    sched_setaffinity=203, sched_setattr=314, sched_setparam=142, sched_setscheduler=144,
    seccomp=317, semctl=66, semget=64, semop=65, semtimedop=220, sendmmsg=307, sendmsg=46,
    setdomainname=171, setfsgid=123, setfsuid=122, setgid=106, setgroups=116, sethostname=170,
    setns=308, setpgid=109, setpriority=141, setregid=114, setresgid=119, setresuid=117,
    setreuid=113, setrlimit=160, setsid=112, setsockopt=54, settimeofday=164, setuid=105,
    setxattr=188, shmat=30, shmctl=31, shmget=29, socket=41, socketpair=53, splice=275, swapoff=168,
    swapon=167, sync=162, syncfs=306, syslog=103, tee=276, tgkill=234, tkill=200, truncate=76,
    umount2=166, unshare=272, userfaultfd=323, utime=132, utimensat=280, utimes=235, vfork=58,
    vhangup=153, vmsplice=278,
    fadvise64=221, getpgid=121, getpriority=140, getsid=124, ioprio_get=252, mincore=27,
    preadv2=327, readahead=187, sched_getaffinity=204, sched_getattr=315, sched_getparam=143,
    sched_getscheduler=145, sched_rr_get_interval=148,
    fstatfs=138, statfs=137, sysinfo=99, ustat=136,
)  # fmt: skip

AARCH64 = _EVERYWHERE | dict(
    accept=202, accept4=242, acct=89, add_key=217, adjtimex=171, bind=200, bpf=280, capset=91,
    chroot=51, clock_adjtime=266, clock_settime=112, clone=220, connect=203, delete_module=106,
    execve=221, execveat=281, fallocate=47, fanotify_init=262, fanotify_mark=263, fchmod=52,
    fchmodat=53, fchown=55, fchownat=54, fcntl=25, finit_module=273, flock=32, fremovexattr=16,
    fsetxattr=7,
    get_robust_list=100, getxattr=8, init_module=105, inotify_add_watch=27, inotify_init1=26,
    io_pgetevents=292, io_setup=0, io_submit=2, ioctl=29, ioprio_set=30, kcmp=272,
    kexec_file_load=294, kexec_load=104, keyctl=219, kill=129, lgetxattr=9, listen=201,
    listxattr=11, llistxattr=12, lookup_dcookie=18, lremovexattr=15, lsetxattr=6, memfd_create=279,
    migrate_pages=238, mknodat=33, mmap=222, mount=40, move_pages=239, mq_getsetattr=185,
    mq_notify=184, mq_open=180, mq_timedreceive=183, mq_timedsend=182, mq_unlink=181, msgctl=187,
    msgget=186, msgrcv=188, msgsnd=189, name_to_handle_at=264, open_by_handle_at=265, openat=56,
    perf_event_open=241, personality=92, pivot_root=41, prctl=167, prlimit64=261,
    process_vm_readv=270, process_vm_writev=271, ptrace=117, quotactl=60, reboot=142,
    removexattr=14, request_key=218, rt_sigqueueinfo=138, rt_tgsigqueueinfo=240,
    sched_setaffinity=122, sched_setattr=274, sched_setparam=118, sched_setscheduler=119,
    seccomp=277, semctl=191, semget=190, semop=193, semtimedop=192, sendmmsg=269, sendmsg=211,
    setdomainname=162, setfsgid=152, setfsuid=151, setgid=144, setgroups=159, sethostname=161,
    setns=268, setpgid=154, setpriority=140, setregid=143, setresgid=149, setresuid=147,
    setreuid=145, setrlimit=164, setsid=157, setsockopt=208, settimeofday=170, setuid=146,
    setxattr=5, shmat=196, shmctl=195, shmget=194, socket=198, socketpair=199, splice=76,
    swapoff=225, swapon=224, sync=81, syncfs=267, syslog=116, tee=77, tgkill=131, tkill=130,
    truncate=45, umount2=39, unshare=97, userfaultfd=282, utimensat=88, vhangup=58, vmsplice=75,
    fadvise64=223, getpgid=155, getpriority=141, getsid=156, ioprio_get=31, mincore=232,
    preadv2=286, readahead=213, sched_getaffinity=123, sched_getattr=275, sched_getparam=121,
    sched_getscheduler=120, sched_rr_get_interval=127,
    fstatfs=44, statfs=43, sysinfo=179,
)  # fmt: skip
