;; The part of `wasi_snapshot_preview1` that reads or writes the module's memory; see `shim.wat`.
;;
;; Clocks tell the time, random numbers are random, what is written to stdout and stderr goes to
;; the host's log, and sleeping waits in the host, where the call's deadline and its client can end
;; it. Nothing else is there.
(module $wasi
  (import "module" "memory" (memory 0))
  (import "shim" "table" (table 9 9 funcref))
  (import "heap" "alloc" (func $alloc (param i64) (result i64)))
  (import "heap" "free" (func $free (param i64)))
  (import "heap" "store_u8" (func $store_u8 (param i64 i32)))
  (import "host" "clock" (func $clock (param i32) (result i64)))
  (import "host" "random" (func $random (result i64)))
  (import "host" "output" (func $output (param i32 i32)))
  (import "host" "sleep" (func $sleep (param i64)))
  (import "host" "exit" (func $exit (param i32)))

  (elem (table 0) (i32.const 0) func
    $sizes $resolution $time $fdstat $read $write $poll $random_get $proc_exit)

  ;; No arguments, no environment.
  (func $sizes (param $count i32) (param $size i32) (result i32)
    (i32.store (local.get $count) (i32.const 0))
    (i32.store (local.get $size) (i32.const 0))
    (i32.const 0))

  (func $resolution (param $id i32) (param $at i32) (result i32)
    (if (i32.gt_u (local.get $id) (i32.const 3)) (then (return (i32.const 28))))
    (i64.store (local.get $at) (i64.const 1000))
    (i32.const 0))

  (func $time (param $id i32) (param $precision i64) (param $at i32) (result i32)
    (if (i32.gt_u (local.get $id) (i32.const 3)) (then (return (i32.const 28))))
    (i64.store (local.get $at) (call $clock (local.get $id)))
    (i32.const 0))

  ;; The three streams are character devices: 2 in the first byte, no flags, the right to write.
  (func $fdstat (param $fd i32) (param $at i32) (result i32)
    (if (i32.gt_u (local.get $fd) (i32.const 2)) (then (return (i32.const 8))))
    (i64.store (local.get $at) (i64.const 2))
    (i64.store offset=8 (local.get $at) (i64.const 64))
    (i64.store offset=16 (local.get $at) (i64.const 0))
    (i32.const 0))

  ;; stdin is at its end.
  (func $read (param $fd i32) (param $list i32) (param $count i32) (param $at i32) (result i32)
    (if (local.get $fd) (then (return (i32.const 8))))
    (i32.store (local.get $at) (i32.const 0))
    (i32.const 0))

  (func $write (param $fd i32) (param $list i32) (param $count i32) (param $at i32) (result i32)
    (local $total i32) (local $length i32)
    (if (i32.gt_u (i32.sub (local.get $fd) (i32.const 1)) (i32.const 1))
      (then (return (i32.const 8))))
    (block $done
      (loop $again
        (br_if $done (i32.eqz (local.get $count)))
        (local.set $length (i32.load offset=4 (local.get $list)))
        (call $say (i32.load (local.get $list)) (local.get $length))
        (local.set $total (i32.add (local.get $total) (local.get $length)))
        (local.set $list (i32.add (local.get $list) (i32.const 8)))
        (local.set $count (i32.sub (local.get $count) (i32.const 1)))
        (br $again)))
    (i32.store (local.get $at) (local.get $total))
    (i32.const 0))

  ;; Hands bytes to the host by way of the heap: at most 64 KiB at once, which is all it keeps.
  (func $say (param $from i32) (param $length i32)
    (local $block i64) (local $at i32)
    (if (i32.gt_u (local.get $length) (i32.const 65536))
      (then (local.set $length (i32.const 65536))))
    (if (i32.eqz (local.get $length)) (then (return)))
    (local.set $block (call $alloc (i64.extend_i32_u (local.get $length))))
    (if (i64.eqz (local.get $block)) (then (return)))
    (loop $again
      (call $store_u8
        (i64.add (local.get $block) (i64.extend_i32_u (local.get $at)))
        (i32.load8_u (i32.add (local.get $from) (local.get $at))))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br_if $again (i32.lt_u (local.get $at) (local.get $length))))
    (call $output (i32.wrap_i64 (local.get $block)) (local.get $length))
    (call $free (local.get $block)))

  (func $random_get (param $at i32) (param $length i32) (result i32)
    (local $bits i64) (local $left i32)
    (block $done
      (loop $again
        (br_if $done (i32.eqz (local.get $length)))
        (if (i32.eqz (local.get $left))
          (then
            (local.set $bits (call $random))
            (local.set $left (i32.const 8))))
        (i32.store8 (local.get $at) (i32.wrap_i64 (local.get $bits)))
        (local.set $bits (i64.shr_u (local.get $bits) (i64.const 8)))
        (local.set $left (i32.sub (local.get $left) (i32.const 1)))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (local.set $length (i32.sub (local.get $length) (i32.const 1)))
        (br $again)))
    (i32.const 0))

  ;; Nanoseconds from now that the subscription at $at waits for.
  (func $wait (param $at i32) (result i64)
    (local $until i64) (local $now i64)
    (local.set $until (i64.load offset=24 (local.get $at)))
    (if (i32.eqz (i32.and (i32.load16_u offset=40 (local.get $at)) (i32.const 1)))
      (then (return (local.get $until))))
    (local.set $now (call $clock (i32.load offset=16 (local.get $at))))
    (select (i64.sub (local.get $until) (local.get $now)) (i64.const 0)
      (i64.gt_u (local.get $until) (local.get $now))))

  ;; Sleeps for the shortest wait and reports the first subscription that has it; a stream is ready
  ;; at once.
  (func $poll (param $in i32) (param $out i32) (param $count i32) (param $at i32) (result i32)
    (local $best i32) (local $shortest i64) (local $wait i64)
    (if (i32.eqz (local.get $count)) (then (return (i32.const 28))))
    (local.set $shortest (i64.const -1))
    (loop $again
      (local.set $wait (i64.const 0))
      (if (i32.eqz (i32.load8_u offset=8 (local.get $in)))
        (then (local.set $wait (call $wait (local.get $in)))))
      (if (i32.or (i64.lt_u (local.get $wait) (local.get $shortest))
                  (i32.eqz (local.get $best)))
        (then
          (local.set $shortest (local.get $wait))
          (local.set $best (local.get $in))))
      (local.set $in (i32.add (local.get $in) (i32.const 48)))
      (local.set $count (i32.sub (local.get $count) (i32.const 1)))
      (br_if $again (local.get $count)))
    (if (i64.ne (local.get $shortest) (i64.const 0)) (then (call $sleep (local.get $shortest))))
    (i64.store (local.get $out) (i64.load (local.get $best)))
    (i64.store offset=8 (local.get $out) (i64.const 0))
    (i32.store8 offset=10 (local.get $out) (i32.load8_u offset=8 (local.get $best)))
    (i64.store offset=16 (local.get $out) (i64.const 0))
    (i64.store offset=24 (local.get $out) (i64.const 0))
    (i32.store (local.get $at) (i32.const 1))
    (i32.const 0))

  (func $proc_exit (param $code i32)
    (call $exit (local.get $code))
    unreachable))
