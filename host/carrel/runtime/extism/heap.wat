;; The memory that an Extism module and the host exchange bytes through, and its blocks.
;;
;; A handle is the address of a block's first byte. In front of it stands a header of 16 bytes:
;; +0 room (u32, a multiple of 16), +4 length (u32), +8 state (u32: 1 in use, 2 free). Blocks
;; follow each other without gaps from 256 to $top; below lie what the canonical ABI returns and the
;; few texts of `env.wat`. A guest can overwrite headers: it spoils its own call, because
;; every instance has a heap of its own and the host reads nothing here but what wasmtime bounds.
(module $heap
  (memory (export "memory") 1)
  (global $top (mut i32) (i32.const 256))
  (global $freed (mut i32) (i32.const 0))
  (global $input (mut i64) (i64.const 0))
  (global $input_length (mut i64) (i64.const 0))
  (global $output (mut i64) (i64.const 0))
  (global $output_length (mut i64) (i64.const 0))
  (global $error (mut i64) (i64.const 0))

  ;; An address of this memory out of an i64; anything larger is out of bounds.
  (func $address (param $at i64) (result i32)
    (if (i64.ne (i64.shr_u (local.get $at) (i64.const 32)) (i64.const 0))
      (then (drop (i32.load (i32.const -1)))))  ;; traps as what it is
    (i32.wrap_i64 (local.get $at)))

  ;; The header behind the one at $at, or $top when that one cannot be.
  (func $next (param $at i32) (result i32)
    (local $end i32)
    (local.set $end (i32.add (i32.add (local.get $at) (i32.const 16))
                             (i32.load (local.get $at))))
    (select (local.get $end) (global.get $top)
      (i32.and (i32.gt_u (local.get $end) (local.get $at))
               (i32.lt_u (local.get $end) (global.get $top)))))

  ;; The header of a block in use whose handle is $handle, or 0.
  (func $find (param $handle i64) (result i32)
    (local $at i32) (local $wanted i32)
    (if (i64.ne (i64.shr_u (local.get $handle) (i64.const 32)) (i64.const 0))
      (then (return (i32.const 0))))
    (local.set $wanted (i32.sub (i32.wrap_i64 (local.get $handle)) (i32.const 16)))
    (local.set $at (i32.const 256))
    (block $none
      (loop $again
        (br_if $none (i32.ge_u (local.get $at) (global.get $top)))
        (br_if $none (i32.gt_u (local.get $at) (local.get $wanted)))
        (if (i32.eq (local.get $at) (local.get $wanted))
          (then
            (br_if $none (i32.ne (i32.load offset=8 (local.get $at)) (i32.const 1)))
            (return (local.get $at))))
        (local.set $at (call $next (local.get $at)))
        (br $again)))
    (i32.const 0))

  ;; Makes the block at $at one in use, and what it has too much a free block of its own.
  (func $take (param $at i32) (param $room i32) (param $length i32) (result i32)
    (local $rest i32)
    (local.set $rest (i32.sub (i32.load (local.get $at)) (local.get $room)))
    (if (i32.ge_u (local.get $rest) (i32.const 64))
      (then
        (i32.store (local.get $at) (local.get $room))
        (call $mark_free
          (i32.add (i32.add (local.get $at) (i32.const 16)) (local.get $room))
          (i32.sub (local.get $rest) (i32.const 16)))))
    (i32.store offset=4 (local.get $at) (local.get $length))
    (i32.store offset=8 (local.get $at) (i32.const 1))
    (i32.add (local.get $at) (i32.const 16)))

  (func $mark_free (param $at i32) (param $room i32)
    (i32.store (local.get $at) (local.get $room))
    (i32.store offset=4 (local.get $at) (i32.const 0))
    (i32.store offset=8 (local.get $at) (i32.const 2))
    (global.set $freed (i32.add (global.get $freed) (i32.const 1))))

  ;; The first free block with enough room, or 0; free neighbours become one on the way.
  (func $reuse (param $room i32) (param $length i32) (result i32)
    (local $at i32) (local $next i32)
    (if (i32.eqz (global.get $freed)) (then (return (i32.const 0))))
    (local.set $at (i32.const 256))
    (block $none
      (loop $again
        (br_if $none (i32.ge_u (local.get $at) (global.get $top)))
        (local.set $next (call $next (local.get $at)))
        (if (i32.eq (i32.load offset=8 (local.get $at)) (i32.const 2))
          (then
            (if (i32.lt_u (local.get $next) (global.get $top))
              (then
                (if (i32.eq (i32.load offset=8 (local.get $next)) (i32.const 2))
                  (then
                    (i32.store (local.get $at)
                      (i32.add (i32.add (i32.load (local.get $at)) (i32.const 16))
                               (i32.load (local.get $next))))
                    (global.set $freed (i32.sub (global.get $freed) (i32.const 1)))
                    (br $again)))))
            (if (i32.ge_u (i32.load (local.get $at)) (local.get $room))
              (then
                (global.set $freed (i32.sub (global.get $freed) (i32.const 1)))
                (return (call $take (local.get $at) (local.get $room) (local.get $length)))))))
        (local.set $at (local.get $next))
        (br $again)))
    (i32.const 0))

  ;; A block of $length bytes, zeroed when it is new; 0 when $length is 0 or there is no memory.
  (func $alloc (export "alloc") (param $length i64) (result i64)
    (local $room i32) (local $end i64) (local $at i32)
    (if (i64.eqz (local.get $length)) (then (return (i64.const 0))))
    (if (i64.gt_u (local.get $length) (i64.const 0xf0000000)) (then (return (i64.const 0))))
    (local.set $room
      (i32.and (i32.add (i32.wrap_i64 (local.get $length)) (i32.const 15)) (i32.const -16)))
    (local.set $at (call $reuse (local.get $room) (i32.wrap_i64 (local.get $length))))
    (if (local.get $at) (then (return (i64.extend_i32_u (local.get $at)))))
    (local.set $end (i64.add (i64.add (i64.extend_i32_u (global.get $top)) (i64.const 16))
                             (i64.extend_i32_u (local.get $room))))
    (if (i64.gt_u (local.get $end) (i64.const 0xffff0000)) (then (return (i64.const 0))))
    (if (i64.gt_u (local.get $end)
                  (i64.shl (i64.extend_i32_u (memory.size)) (i64.const 16)))
      (then
        (if (i32.eq (i32.const -1)
              (memory.grow
                (i32.wrap_i64
                  (i64.shr_u
                    (i64.add
                      (i64.sub (local.get $end)
                               (i64.shl (i64.extend_i32_u (memory.size)) (i64.const 16)))
                      (i64.const 65535))
                    (i64.const 16)))))
          (then (return (i64.const 0))))))
    (local.set $at (global.get $top))
    (global.set $top (i32.wrap_i64 (local.get $end)))
    (i32.store (local.get $at) (local.get $room))
    (i64.extend_i32_u
      (call $take (local.get $at) (local.get $room) (i32.wrap_i64 (local.get $length)))))

  (func $free (export "free") (param $handle i64)
    (local $at i32)
    (local.set $at (call $find (local.get $handle)))
    (if (local.get $at)
      (then (call $mark_free (local.get $at) (i32.load (local.get $at))))))

  ;; For the canonical ABI: what the host hands in becomes a block, so its address is a handle.
  (func (export "realloc") (param $old i32) (param $old_size i32) (param $align i32)
      (param $size i32) (result i32)
    (local $at i32)
    (if (i32.eqz (local.get $size)) (then (return (i32.const 256))))
    (local.set $at (i32.wrap_i64 (call $alloc (i64.extend_i32_u (local.get $size)))))
    (if (i32.eqz (local.get $at)) (then unreachable))
    (if (local.get $old_size)
      (then
        (memory.copy (local.get $at) (local.get $old)
          (select (local.get $old_size) (local.get $size)
                  (i32.lt_u (local.get $old_size) (local.get $size))))
        (call $free (i64.extend_i32_u (local.get $old)))))
    (local.get $at))

  (func (export "length") (param $handle i64) (result i64)
    (local $at i32)
    (local.set $at (call $find (local.get $handle)))
    (if (result i64) (local.get $at)
      (then (i64.load32_u offset=4 (local.get $at)))
      (else (i64.const 0))))

  (func (export "length_unsafe") (param $handle i64) (result i64)
    (if (i64.lt_u (local.get $handle) (i64.const 272)) (then (return (i64.const 0))))
    (i64.load32_u offset=4
      (i32.sub (call $address (local.get $handle)) (i32.const 16))))

  (func (export "load_u8") (param $at i64) (result i32)
    (i32.load8_u (call $address (local.get $at))))
  (func (export "load_u64") (param $at i64) (result i64)
    (i64.load align=1 (call $address (local.get $at))))
  (func (export "store_u8") (param $at i64) (param $value i32)
    (i32.store8 (call $address (local.get $at)) (local.get $value)))
  (func (export "store_u64") (param $at i64) (param $value i64)
    (i64.store align=1 (call $address (local.get $at)) (local.get $value)))

  (func (export "input_set") (param $handle i64) (param $length i64)
    (global.set $input (local.get $handle))
    (global.set $input_length (local.get $length)))
  (func (export "input_offset") (result i64) (global.get $input))
  (func (export "input_length") (result i64) (global.get $input_length))
  (func (export "input_load_u8") (param $offset i64) (result i32)
    (i32.load8_u (call $address (i64.add (global.get $input) (local.get $offset)))))
  (func (export "input_load_u64") (param $offset i64) (result i64)
    (i64.load align=1 (call $address (i64.add (global.get $input) (local.get $offset)))))

  (func (export "output_set") (param $handle i64) (param $length i64)
    (global.set $output (local.get $handle))
    (global.set $output_length (local.get $length)))
  (func (export "output_offset") (result i64) (global.get $output))
  (func (export "output_length") (result i64) (global.get $output_length))

  (func (export "error_set") (param $handle i64) (global.set $error (local.get $handle)))
  (func (export "error_get") (result i64) (global.get $error))

  (func (export "reset")
    (memory.fill (i32.const 256) (i32.const 0) (i32.sub (global.get $top) (i32.const 256)))
    (global.set $top (i32.const 256))
    (global.set $freed (i32.const 0))
    (global.set $input (i64.const 0))
    (global.set $input_length (i64.const 0))
    (global.set $output (i64.const 0))
    (global.set $output_length (i64.const 0))
    (global.set $error (i64.const 0)))

  (func (export "memory_bytes") (result i64)
    (i64.shl (i64.extend_i32_u (memory.size)) (i64.const 16))))
