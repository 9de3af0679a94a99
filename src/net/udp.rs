//! The driver on mio and socket2.
