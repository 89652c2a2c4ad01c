/** The commands that ask the proxy of this node. They are loaded at once. */
export { dump } from '../dump/dump.js';
export { top } from '../top/top.js';
export { diff } from './diff.js';
export { explain } from './explain.js';
export { history } from './history.js';
export { services } from './services.js';
export { status } from './status.js';
export { version } from './version.js';
