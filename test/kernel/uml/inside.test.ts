import { builtProxy } from '../../support/program/built-proxy.js';
import { bundleStandIn } from '../../support/program/served-node.js';
import { declareGuestTests, type GuestProgram } from './guest-tests.js';

// Built here: what a guest builds is lost with it.
const standIn = await bundleStandIn();
const environment = {
  KUBEPROXY: await builtProxy(),
  STAND_IN: standIn.file,
  NIGHTLY: process.env.NIGHTLY ?? '',
};
const program = (name: string): GuestProgram => ({
  source: new URL(`./inside/${name}.ts`, import.meta.url),
  environment,
});
/** One for each of two processors, since a guest takes long to start. GUEST_PROGRAMS, a list of names, has only those run. */
const programs = [program('drivers-and-scenarios'), program('one-node')];
const wanted = process.env.GUEST_PROGRAMS?.split(',');
await declareGuestTests(
  programs.filter(({ source }) => !wanted || wanted.some((name) => source.href.endsWith(`/${name}.ts`))),
);
await standIn.remove();
