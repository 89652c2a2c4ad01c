import { builtProxy } from '../kernel/built-proxy.js';
import { declareGuestTests } from '../kernel/uml/guest-tests.js';

// Built here: what a guest builds is lost with it.
await builtProxy();
const inside = (name: string): URL => new URL(`../kernel/uml/inside/${name}.ts`, import.meta.url);
await declareGuestTests(
  { source: inside('conformance'), parameters: ['1/2'] },
  { source: inside('conformance'), parameters: ['2/2'] },
);
