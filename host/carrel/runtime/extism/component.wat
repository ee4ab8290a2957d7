;; An Extism module and its surroundings as one component of the contract's shape.
;;
;; `wrap.py` fills in what stands between at signs, and puts the module's bytes in the place of the
;; empty module $plugin. See docs/decisions/0017-extism-modules.md.
(component
  (import "carrel:extism/host@1.0.0" (instance $host
    (export "config" (func (param "key" string) (result string)))
    (export "http" (func (param "request" string) (param "body" string) (result string)))
    (export "http-status" (func (result u32)))
    (export "http-headers" (func (result string)))
    (export "log" (func (param "level" u32) (param "message" string)))
    (export "log-level" (func (result u32)))
    (export "user" (func (param "which" u32) (param "argument" string) (result string)))
    (export "clock" (func (param "id" u32) (result u64)))
    (export "random" (func (result u64)))
    (export "output" (func (param "text" string)))
    (export "sleep" (func (param "nanoseconds" u64)))
    (export "exit" (func (param "code" u32)))))

@heap@
  (core instance $heap (instantiate $heap))

  (core func $config (canon lower (func $host "config")
    (memory (core memory $heap "memory")) (realloc (core func $heap "realloc"))))
  (core func $http (canon lower (func $host "http")
    (memory (core memory $heap "memory")) (realloc (core func $heap "realloc"))))
  (core func $http_status (canon lower (func $host "http-status")))
  (core func $http_headers (canon lower (func $host "http-headers")
    (memory (core memory $heap "memory")) (realloc (core func $heap "realloc"))))
  ;; Bytes of any kind pass as Latin-1.
  (core func $log (canon lower (func $host "log")
    (memory (core memory $heap "memory")) string-encoding=latin1+utf16))
  (core func $log_level (canon lower (func $host "log-level")))
  (core func $user (canon lower (func $host "user")
    (memory (core memory $heap "memory")) (realloc (core func $heap "realloc"))))
  (core func $clock (canon lower (func $host "clock")))
  (core func $random (canon lower (func $host "random")))
  (core func $output (canon lower (func $host "output")
    (memory (core memory $heap "memory")) string-encoding=latin1+utf16))
  (core func $sleep (canon lower (func $host "sleep")))
  (core func $exit (canon lower (func $host "exit")))

  (core instance $services
    (export "config" (func $config))
    (export "http" (func $http))
    (export "http-status" (func $http_status))
    (export "http-headers" (func $http_headers))
    (export "log" (func $log))
    (export "log-level" (func $log_level))
    (export "user" (func $user))
    (export "clock" (func $clock))
    (export "random" (func $random))
    (export "output" (func $output))
    (export "sleep" (func $sleep))
    (export "exit" (func $exit)))

@env@
  (core instance $env (instantiate $env
    (with "heap" (instance $heap)) (with "host" (instance $services))))
  (core instance $kernel
@kernel@)

@shim@
  (core module $plugin)
  (core instance $plugin (instantiate $plugin
    (with "extism:host/env" (instance $kernel))
    (with "extism:host/user" (instance $env))
    @with_shim@))
@wasi@
  (core module $driver
    (import "heap" "input_set" (func $input_set (param i64 i64)))
    (import "heap" "output_offset" (func $output_offset (result i64)))
    (import "heap" "output_length" (func $output_length (result i64)))
    (import "heap" "error_get" (func $error_get (result i64)))
    (import "heap" "length" (func $length (param i64) (result i64)))
    (import "heap" "memory" (memory 1))
@imports@
    ;; Leaves a result<string, string> at 0.
    (func (export "call") (param $which i32) (param $which_length i32)
        (param $input i32) (param $input_length i32) (result i32)
      (local $code i32)
      (local.set $which (i32.load8_u (local.get $which)))
      (call $input_set (select (i64.extend_i32_u (local.get $input)) (i64.const 0)
          (local.get $input_length))
        (i64.extend_i32_u (local.get $input_length)))
@start@
      (block $called
@calls@
        unreachable)
      (i32.store8 (i32.const 0) (i32.const 0))
      (i32.store (i32.const 4) (i32.wrap_i64 (call $output_offset)))
      (i32.store (i32.const 8) (call $short (call $output_length)))
      (if (i32.or (i64.ne (call $error_get) (i64.const 0)) (local.get $code))
        (then
          (i32.store8 (i32.const 0) (i32.const 1))
          (i32.store (i32.const 4) (i32.wrap_i64 (call $error_get)))
          (i32.store (i32.const 8) (call $short (call $length (call $error_get))))))
      (i32.const 0))
    ;; A length that is none becomes one that lies outside of every memory.
    (func $short (param $length i64) (result i32)
      (select (i32.wrap_i64 (local.get $length)) (i32.const -1)
        (i64.lt_u (local.get $length) (i64.const 0xffffffff)))))
  (core instance $driver (instantiate $driver
    (with "heap" (instance $heap)) (with "plugin" (instance $plugin))))

  (func $call (param "tool" string) (param "arguments" string)
      (result (result string (error string)))
    (canon lift (core func $driver "call") (memory (core memory $heap "memory"))
      (realloc (core func $heap "realloc"))))
  (instance $source (export "call" (func $call)))
  (export "carrel:plugin/source@1.0.0" (instance $source)))
