import { cLibraryIfAny, loadCLibrary } from '../../../src/adapters/process/c-library.js';

const EBADF = 9;

describe('the C library of this process', () => {
  it('is called, and says why a call failed', () => {
    const library = loadCLibrary();
    expect([library.close(-1), library.errno()]).toEqual([-1, EBADF]);
    expect([library.flock(-1, 2), library.errno()]).toEqual([-1, EBADF]);
  });

  it('is called on another thread as well', async () => {
    const { sendInBackground, recvInBackground } = loadCLibrary();
    expect(await sendInBackground(-1, Buffer.alloc(4), 4, 0)).toEqual({ result: -1, errno: EBADF });
    expect(await recvInBackground(-1, Buffer.alloc(4), 4, 0)).toEqual({ result: -1, errno: EBADF });
  });

  it('is bound once', () => {
    expect(cLibraryIfAny()).toBe(loadCLibrary());
  });
});
