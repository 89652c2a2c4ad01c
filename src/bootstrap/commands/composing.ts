/** The commands that put parts of a proxy together. They are loaded at once: a start reads fewer files. */
export { cleanup } from './cleanup.js';
export { initOnly } from './init-only.js';
export { once } from './once.js';
export { plan } from './plan.js';
export { run } from './run.js';
export { traceManifests } from './trace-manifests.js';
