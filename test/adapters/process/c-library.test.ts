import { loadCLibrary } from '../../../src/adapters/process/c-library.js';

const EBADF = 9;

describe('the C library of this process', () => {
  it('has the functions that are declared, and says why a call failed', () => {
    const { func, errno } = loadCLibrary();
    expect(func('int getpid()')()).toBe(process.pid);
    expect(func('int close(int fd)')(-1)).toBe(-1);
    expect(errno()).toBe(EBADF);
  });

  it('is called on another thread as well', async () => {
    const { func, inBackground } = loadCLibrary();
    const close = func('int close(int fd)');
    expect(await inBackground(close, -1)).toEqual({ result: -1, errno: EBADF });
  });

  it('refuses a function that it does not have', () => {
    expect(() => loadCLibrary().func('int no_such_function()')).toThrow('no_such_function');
  });
});
