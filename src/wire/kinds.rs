//! Kinds of packets and other values of one byte, each with its byte and its name.

/// Makes an enum of kinds. `Display` is the name, as the format's document has it if there is one.
macro_rules! kinds {
    ($(#[$about:meta])* $type:ident: $($(#[$doc:meta])* $name:ident($byte:literal) = $text:literal,)*) => {
        $crate::protocol::texts! {
            $(#[$about])*
            #[derive(Hash)]
            #[repr(u8)]
            pub $type: $($(#[$doc])* $name($byte) = $text,)*
        }

        impl $type {
            /// All of them, in the order of their bytes.
            pub const ALL: [Self; [$($byte),*].len()] = [$(Self::$name),*];

            fn from_byte(byte: u8) -> Option<Self> {
                Self::ALL.into_iter().find(|kind| *kind as u8 == byte)
            }
        }
    };
}

pub(in crate::wire) use kinds;
