import { builtProxy } from '../kernel/built-proxy.js';
import { declareGuestTests } from '../kernel/uml/guest-tests.js';

const source = new URL('../kernel/uml/inside/conformance.ts', import.meta.url);
const environment = { KUBEPROXY: await builtProxy() };
await declareGuestTests(...['1/2', '2/2'].map((part) => ({ source, parameters: [part], environment })));
