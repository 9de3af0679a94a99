//! The errors of a format whose rules need no numbers to be told.

/// Makes the error of a decoder: for each rule that a datagram can break, its name and its words.
macro_rules! broken_rules {
    ($(#[$of:meta])* $error:ident { $($(#[$doc:meta])* $name:ident = $rule:literal, $shown:literal,)* }) => {
        $crate::protocol::texts! {
            $(#[$of])*
            #[non_exhaustive]
            pub $error: $($(#[$doc])* $name = $shown,)*
        }

        impl $error {
            /// The name of the rule that is broken.
            #[must_use]
            pub const fn rule(&self) -> &'static str {
                match self { $(Self::$name => $rule,)* }
            }
        }

        impl core::error::Error for $error {}
    };
}

pub(crate) use broken_rules;
