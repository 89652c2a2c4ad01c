/** Has dpkg-deb leave out what takes most of its time, and changes nothing but how large a package is. */
export const UNCOMPRESSED = { DPKG_DEB_COMPRESSOR_TYPE: 'none' };
