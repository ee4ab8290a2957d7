;; Stands between the host and a guest's `parse-bytes`; see documents.py.
;;
;; The last argument of `parse` names the document's encoding: empty for a document that crossed as it
;; is, anything else for base64 with padding. The two functions and the memory that it imports are the
;; guest's own.
(module
  (import "guest" "memory" (memory 0))
  (import "guest" "realloc" (func $realloc (param i32 i32 i32 i32) (result i32)))
  (import "guest" "parse" (func $parse (param i32 i32 i32 i32 i32 i32) (result i32)))

  (func (export "parse")
      (param $format i32) (param $format_length i32)
      (param $document i32) (param $length i32)
      (param $options i32) (param $options_length i32)
      (param $encoding i32) (param $encoding_length i32)
      (result i32)
    (local $block i32)
    (if (i32.and (i32.ne (local.get $encoding_length) (i32.const 0))
                 (i32.ne (local.get $length) (i32.const 0)))
      (then
        (local.set $length (call $decode (local.get $document) (local.get $length)))
        ;; The guest frees a block of exactly the document's size. It gets another one: not every
        ;; guest's realloc shrinks a block, componentize-py's traps.
        (local.set $block
          (call $realloc (i32.const 0) (i32.const 0) (i32.const 1) (local.get $length)))
        (memory.copy (local.get $block) (local.get $document) (local.get $length))
        (local.set $document (local.get $block))))
    (call $parse
      (local.get $format) (local.get $format_length)
      (local.get $document) (local.get $length)
      (local.get $options) (local.get $options_length)))

  ;; Decodes `length` characters, a multiple of 4 and not 0, in place; returns the number of bytes.
  (func $decode (param $start i32) (param $length i32) (result i32)
    (local $table i32) (local $from i32) (local $to i32) (local $end i32) (local $four i32)
    (local $padding i32)
    (local.set $end (i32.add (local.get $start) (local.get $length)))
    (local.set $padding (i32.add
      (i32.eq (i32.load8_u (i32.sub (local.get $end) (i32.const 1))) (i32.const 0x3d))
      (i32.eq (i32.load8_u (i32.sub (local.get $end) (i32.const 2))) (i32.const 0x3d))))
    (local.set $table (call $values))
    (local.set $from (local.get $start))
    (local.set $to (local.get $start))
    (loop $next
      (local.set $four
        (i32.or
          (i32.or
            (i32.shl
              (i32.load8_u (i32.add (local.get $table) (i32.load8_u (local.get $from))))
              (i32.const 18))
            (i32.shl
              (i32.load8_u (i32.add (local.get $table) (i32.load8_u offset=1 (local.get $from))))
              (i32.const 12)))
          (i32.or
            (i32.shl
              (i32.load8_u (i32.add (local.get $table) (i32.load8_u offset=2 (local.get $from))))
              (i32.const 6))
            (i32.load8_u (i32.add (local.get $table) (i32.load8_u offset=3 (local.get $from)))))))
      (i32.store8 (local.get $to) (i32.shr_u (local.get $four) (i32.const 16)))
      (i32.store8 offset=1 (local.get $to) (i32.shr_u (local.get $four) (i32.const 8)))
      (i32.store8 offset=2 (local.get $to) (local.get $four))
      (local.set $to (i32.add (local.get $to) (i32.const 3)))
      (local.set $from (i32.add (local.get $from) (i32.const 4)))
      (br_if $next (i32.lt_u (local.get $from) (local.get $end))))
    (i32.sub (i32.sub (local.get $to) (local.get $start)) (local.get $padding)))

  ;; A table of 128 bytes in the guest's memory: the value of each character of the alphabet.
  (func $values (result i32)
    (local $table i32) (local $value i32) (local $character i32)
    (local.set $table
      (call $realloc (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 128)))
    (i32.store8 offset=0x3d (local.get $table) (i32.const 0))
    (loop $next
      (local.set $character (i32.add (local.get $value) (i32.const 0x41)))
      (if (i32.ge_u (local.get $value) (i32.const 26))
        (then (local.set $character (i32.add (local.get $value) (i32.const 71)))))
      (if (i32.ge_u (local.get $value) (i32.const 52))
        (then (local.set $character (i32.sub (local.get $value) (i32.const 4)))))
      (if (i32.eq (local.get $value) (i32.const 62)) (then (local.set $character (i32.const 0x2b))))
      (if (i32.eq (local.get $value) (i32.const 63)) (then (local.set $character (i32.const 0x2f))))
      (i32.store8 (i32.add (local.get $table) (local.get $character)) (local.get $value))
      (local.set $value (i32.add (local.get $value) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $value) (i32.const 64))))
    (local.get $table)))
