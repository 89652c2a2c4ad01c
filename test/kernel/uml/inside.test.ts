import { builtProxy } from '../../support/program/built-proxy.js';
import { declareGuestTests, type GuestProgram } from './guest-tests.js';

// Built here: what a guest builds is lost with it.
const environment = { KUBEPROXY: await builtProxy() };
const program = (name: string, ...parameters: readonly string[]): GuestProgram => ({
  source: new URL(`./inside/${name}.ts`, import.meta.url),
  parameters,
  environment,
});
/** The longest first. GUEST_PROGRAMS, a list of names, has only those run. */
const programs = [
  program('conformance', '1/2'),
  program('conformance', '2/2'),
  program('take-over'),
  program('connections'),
  program('node'),
  program('drivers'),
];
const wanted = process.env.GUEST_PROGRAMS?.split(',');
await declareGuestTests(
  programs.filter(({ source }) => !wanted || wanted.some((name) => source.href.endsWith(`/${name}.ts`))),
);
