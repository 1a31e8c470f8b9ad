/**
 * Variables that commands get: what programs need to run and to find their tool chains. An allow-list, because any
 * other variable may hold a secret.
 */
const ALLOWED: ReadonlySet<string> = new Set(
  `PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TMPDIR TMP TEMP HOSTNAME CI
   JAVA_HOME ANDROID_HOME GOPATH GOROOT GOCACHE GOMODCACHE GOPROXY GOFLAGS CARGO_HOME RUSTUP_HOME NVM_DIR NVM_BIN VOLTA_HOME PNPM_HOME
   BUN_INSTALL DENO_DIR VIRTUAL_ENV CONDA_PREFIX PYENV_ROOT RBENV_ROOT GEM_HOME PYTHONPATH NODE_PATH DOTNET_ROOT
   SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS REQUESTS_CA_BUNDLE CURL_CA_BUNDLE GIT_SSL_CAINFO
   HTTP_PROXY HTTPS_PROXY NO_PROXY ALL_PROXY http_proxy https_proxy no_proxy all_proxy
   SystemRoot SystemDrive ComSpec PATHEXT WINDIR APPDATA LOCALAPPDATA USERPROFILE ProgramFiles`.split(/\s+/),
);
const ALLOWED_PREFIXES = ['LC_', 'XDG_'];

/** Nobody sits at the other end: no pager, no prompt, no colours. */
const SETTINGS: Readonly<Record<string, string>> = {
  TERM: 'dumb',
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  GIT_TERMINAL_PROMPT: '0',
  NO_COLOR: '1',
};

/** The environment of a command, out of that of the worker. URLs with credentials (proxies) are left out too. */
export function commandEnvironment(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const kept = Object.entries(env).filter((entry): entry is [string, string] => {
    const [name, value] = entry;
    const allowed = ALLOWED.has(name) || ALLOWED_PREFIXES.some((prefix) => name.startsWith(prefix));
    return allowed && value !== undefined && !/:\/\/[^/\s]*@/.test(value);
  });
  return { ...Object.fromEntries(kept), ...SETTINGS };
}
