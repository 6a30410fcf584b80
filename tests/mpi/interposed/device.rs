//! Device memory, with a stand-in for a GPU runtime whose memory the processor cannot touch.

use crate::faults::on_each;
use crate::launch::Settings;
use crate::programs::{c, device_runtime};

/// The runtimes whose functions the stand-in has, and the names of their libraries.
const RUNTIMES: [(&str, &str); 3] = [("CUDA", "libcudart"), ("DRIVER", "libcuda"), ("HIP", "libamdhip64")];

/// The runtime is loaded on some ranks, after calls were served on the communicator: the processor must not touch its
/// memory, and no rank may wait forever.
#[test]
fn device_memory_that_comes_late_is_copied() {
    on_each(|mpi| {
        let program = c(mpi, "interposed_device");
        for (whose, name) in RUNTIMES {
            let runtime = device_runtime(whose, name).display().to_string();
            for who in ["last", "all"] {
                let settings = Settings::forced().with("ROUNDEL_EXPLAIN", "1");
                let run = mpi.run(3, &settings, &program, &[&runtime, "late", who]);
                run.succeeds();
                assert!(run.output().contains("copied through host memory"), "{}", run.report());
            }
            let settings = Settings::shared().with("ROUNDEL_EXPLAIN", "1");
            let run = mpi.run(3, &settings, &program, &[&runtime, "late", "last", "blocking"]);
            run.succeeds();
            assert!(run.output().contains("copied through host memory"), "{}", run.report());
        }
    });
}

/// Level Zero does not tell whose memory an address is: a program that loads it late is told what to set. `open` memory
/// may be touched, because nobody prevents it.
#[test]
fn level_zero_that_comes_late_is_reported() {
    on_each(|mpi| {
        let program = c(mpi, "interposed_device");
        let runtime = device_runtime("LEVEL_ZERO", "libze_loader").display().to_string();
        let run = mpi.run(3, &Settings::forced(), &program, &[&runtime, "open", "last"]);
        run.succeeds();
        let told = "Level Zero was loaded after MPI_Init";
        assert!(run.output().matches(told).count() == 1, "{}", run.report());
        let host = Settings::forced().with("ROUNDEL_DEVICE", "host");
        let run = mpi.run(3, &host, &program, &[&runtime, "open", "last"]);
        run.succeeds();
        assert!(!run.output().contains(told), "{}", run.report());
    });
}

/// If any rank has the runtime when ranks compare settings, the library does all calls on all ranks.
#[test]
fn where_a_runtime_is_loaded_the_library_does_all_calls() {
    on_each(|mpi| {
        let program = c(mpi, "interposed_device");
        for (whose, name) in RUNTIMES.into_iter().chain([("LEVEL_ZERO", "libze_loader")]) {
            let runtime = device_runtime(whose, name).display().to_string();
            let settings = Settings::forced().with("ROUNDEL_EXPLAIN", "1");
            let run = mpi.run(3, &settings, &program, &[&runtime, "early", "last"]);
            run.succeeds();
            let told = run.output().contains(": library, because a GPU runtime is loaded");
            assert!(told && !run.output().contains(": allreduce/ring"), "{}", run.report());
        }
    });
}

#[test]
fn the_user_decides_about_device_memory() {
    on_each(|mpi| {
        let program = c(mpi, "interposed_device");
        let (runtime, none) = (device_runtime("CUDA", "libcudart"), device_runtime("NONE", "libnothing"));
        let [runtime, none] = [runtime, none].map(|path| path.display().to_string());
        let set = |value| Settings::forced().with("ROUNDEL_EXPLAIN", "1").with("ROUNDEL_DEVICE", value);
        // `early` memory may be touched.
        let run = mpi.run(2, &set("host"), &program, &[&runtime, "early", "all"]);
        run.succeeds();
        assert!(run.output().contains(": allreduce/ring"), "{}", run.report());
        let run = mpi.run(2, &set("library"), &program, &[&none, "early", "all"]);
        run.succeeds();
        assert!(run.output().contains(": library, because ROUNDEL_DEVICE says so"), "{}", run.report());
        mpi.run(2, &set("gpu"), &program, &[&none, "early", "all"]).fails_with("ROUNDEL_DEVICE is `gpu`");
    });
}
