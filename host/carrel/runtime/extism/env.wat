;; The functions of `extism:host/env` and `extism:host/user` that need the host.
;;
;; Each hands texts over as a pointer and a length that wasmtime checks against the heap, and gets
;; texts back as blocks of the heap. What a module passes to a function of `env` is freed here, as
;; Extism does; what it passes to one of `user` it frees itself.
(module $env
  (import "heap" "memory" (memory 1))
  (import "heap" "alloc" (func $heap_alloc (param i64) (result i64)))
  (import "heap" "free" (func $free (param i64)))
  (import "heap" "length" (func $length (param i64) (result i64)))
  (import "host" "config" (func $config (param i32 i32 i32)))
  (import "host" "http" (func $http (param i32 i32 i32 i32 i32)))
  (import "host" "http-status" (func $http_status (result i32)))
  (import "host" "http-headers" (func $http_headers (param i32)))
  (import "host" "log" (func $log (param i32 i32 i32)))
  (import "host" "log-level" (func $log_level (result i32)))
  (import "host" "user" (func $user (param i32 i32 i32 i32)))

  ;; Where the canonical ABI leaves a text's pointer and length.
  (global $returned i32 (i32.const 0))

  ;; The variables: a list of blocks of 24 bytes: next, key, value (i64 handles each). A module's
  ;; instance lives for one call, and so do they.
  (global $vars (mut i64) (i64.const 0))
  (global $vars_size (mut i64) (i64.const 0))
  (global $VARS_MOST i64 (i64.const 1048576))

  (func $text (result i64)
    (if (i32.eqz (i32.load offset=4 (global.get $returned))) (then (return (i64.const 0))))
    (i64.load32_u (global.get $returned)))

  ;; What is no handle is an empty text, wherever it points.
  (func $pointer (param $handle i64) (result i32)
    (select (i32.wrap_i64 (local.get $handle)) (i32.const 0)
      (call $size (local.get $handle))))
  (func $size (param $handle i64) (result i32)
    (i32.wrap_i64 (call $length (local.get $handle))))

  ;; Says why and gives up. The host knows the first text for a lack of memory.
  (data (i32.const 32) "memory allocation failed")
  (data (i32.const 64) "the variables of a call take more than 1 MiB.")
  (func $give_up (param $message i32) (param $length i32)
    (call $log (i32.const 4) (local.get $message) (local.get $length))
    unreachable)

  (func $alloc (export "alloc") (param $length i64) (result i64)
    (local $handle i64)
    (local.set $handle (call $heap_alloc (local.get $length)))
    (if (i32.and (i64.eqz (local.get $handle)) (i64.ne (local.get $length) (i64.const 0)))
      (then (call $give_up (i32.const 32) (i32.const 24))))
    (local.get $handle))

  (func (export "config_get") (param $key i64) (result i64)
    (call $config (call $pointer (local.get $key)) (call $size (local.get $key))
      (global.get $returned))
    (call $free (local.get $key))
    (call $text))

  ;; -- http ---------------------------------------------------------------------------------------

  (func (export "http_request") (param $request i64) (param $body i64) (result i64)
    (local $answer i64)
    (call $http
      (call $pointer (local.get $request)) (call $size (local.get $request))
      (call $pointer (local.get $body)) (call $size (local.get $body))
      (global.get $returned))
    (local.set $answer (call $text))
    (call $free (local.get $request))
    (call $free (local.get $body))
    ;; No status is no answer: the host has noted why, and a module cannot go on from there.
    (if (i32.eqz (call $http_status)) (then unreachable))
    (local.get $answer))
  (func (export "http_status_code") (result i32) (call $http_status))
  (func (export "http_headers") (result i64)
    (call $http_headers (global.get $returned))
    (call $text))

  ;; -- log ----------------------------------------------------------------------------------------

  ;; At most 4 KiB of it, which is what the host writes.
  (func $write (param $level i32) (param $handle i64)
    (local $size i32)
    (local.set $size (call $size (local.get $handle)))
    (call $log (local.get $level) (call $pointer (local.get $handle))
      (select (local.get $size) (i32.const 4096) (i32.lt_u (local.get $size) (i32.const 4096))))
    (call $free (local.get $handle)))
  (func (export "log_trace") (param i64) (call $write (i32.const 0) (local.get 0)))
  (func (export "log_debug") (param i64) (call $write (i32.const 1) (local.get 0)))
  (func (export "log_info") (param i64) (call $write (i32.const 2) (local.get 0)))
  (func (export "log_warn") (param i64) (call $write (i32.const 3) (local.get 0)))
  (func (export "log_error") (param i64) (call $write (i32.const 4) (local.get 0)))
  (func (export "get_log_level") (result i32) (call $log_level))

  ;; -- variables ----------------------------------------------------------------------------------

  (func $equal (param $one i64) (param $other i64) (result i32)
    (local $at i32) (local $length i32)
    (local.set $length (call $size (local.get $one)))
    (if (i32.ne (local.get $length) (call $size (local.get $other)))
      (then (return (i32.const 0))))
    (block $differs
      (loop $again
        (if (i32.ge_u (local.get $at) (local.get $length)) (then (return (i32.const 1))))
        (br_if $differs
          (i32.ne
            (i32.load8_u (i32.add (call $pointer (local.get $one)) (local.get $at)))
            (i32.load8_u (i32.add (call $pointer (local.get $other)) (local.get $at)))))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (br $again)))
    (i32.const 0))

  ;; The variable of that name, or 0.
  (func $variable (param $key i64) (result i32)
    (local $at i32)
    (local.set $at (i32.wrap_i64 (global.get $vars)))
    (block $none
      (loop $again
        (br_if $none (i32.eqz (local.get $at)))
        (if (call $equal (i64.load offset=8 (local.get $at)) (local.get $key))
          (then (return (local.get $at))))
        (local.set $at (i32.wrap_i64 (i64.load (local.get $at))))
        (br $again)))
    (i32.const 0))

  (func $copy (param $handle i64) (result i64)
    (local $length i64) (local $copy i64)
    (local.set $length (call $length (local.get $handle)))
    (local.set $copy (call $alloc (local.get $length)))
    (memory.copy (call $pointer (local.get $copy)) (call $pointer (local.get $handle))
      (i32.wrap_i64 (local.get $length)))
    (local.get $copy))

  (func (export "var_get") (param $key i64) (result i64)
    (local $at i32)
    (local.set $at (call $variable (local.get $key)))
    (call $free (local.get $key))
    (if (result i64) (local.get $at)
      (then (call $copy (i64.load offset=16 (local.get $at))))
      (else (i64.const 0))))

  (func (export "var_set") (param $key i64) (param $value i64)
    (local $at i32) (local $old i64)
    (local.set $at (call $variable (local.get $key)))
    (if (local.get $at)
      (then
        (local.set $old (i64.load offset=16 (local.get $at)))
        (global.set $vars_size
          (i64.sub (global.get $vars_size) (call $length (local.get $old))))
        (call $free (local.get $old))
        (i64.store offset=16 (local.get $at) (i64.const 0))))
    (if (i64.ne (local.get $value) (i64.const 0))
      (then
        (global.set $vars_size
          (i64.add (global.get $vars_size) (call $length (local.get $value))))
        (if (i64.gt_u (global.get $vars_size) (global.get $VARS_MOST)) 
          (then (call $give_up (i32.const 64) (i32.const 45))))
        (if (i32.eqz (local.get $at))
          (then
            (local.set $at (i32.wrap_i64 (call $alloc (i64.const 24))))
            (i64.store (local.get $at) (global.get $vars))
            (i64.store offset=8 (local.get $at) (call $copy (local.get $key)))
            (global.set $vars (i64.extend_i32_u (local.get $at)))))
        (i64.store offset=16 (local.get $at) (call $copy (local.get $value)))))
    (call $free (local.get $key))
    (call $free (local.get $value)))

  ;; -- hyper-mcp's functions, by their places in the host's list ---------------------------------

  (func $ask (param $which i32) (param $argument i64) (result i64)
    (call $user (local.get $which) (call $pointer (local.get $argument))
      (call $size (local.get $argument)) (global.get $returned))
    (call $text))
  (func (export "create_elicitation") (param i64) (result i64)
    (call $ask (i32.const 0) (local.get 0)))
  (func (export "create_message") (param i64) (result i64)
    (call $ask (i32.const 1) (local.get 0)))
  (func (export "get_access_token") (param i64) (result i64)
    (call $ask (i32.const 2) (local.get 0)))
  (func (export "get_keyring_secret") (param i64) (result i64)
    (call $ask (i32.const 3) (local.get 0)))
  (func (export "list_roots") (result i64) (call $ask (i32.const 4) (i64.const 0)))
  (func (export "notify_logging_message") (param i64)
    (drop (call $ask (i32.const 5) (local.get 0))))
  (func (export "notify_progress") (param i64) (drop (call $ask (i32.const 6) (local.get 0))))
  (func (export "notify_prompt_list_changed") (drop (call $ask (i32.const 7) (i64.const 0))))
  (func (export "notify_resource_list_changed") (drop (call $ask (i32.const 8) (i64.const 0))))
  (func (export "notify_tool_list_changed") (drop (call $ask (i32.const 9) (i64.const 0))))
  (func (export "notify_resource_updated") (param i64)
    (drop (call $ask (i32.const 10) (local.get 0))))
  (func (export "notify_url_elicitation_completed") (param i64)
    (drop (call $ask (i32.const 11) (local.get 0)))))
